/**
 * Minimum number of additional bytes that count as progress. Fewer bytes do not count, because a socket accepts some
 * data even if the server has stopped reading.
 */
const stepBytes = 256 * 1024

/** The progress of a push; see the event `sent`. */
export type SendCount = { bytesHere: number; bytesSent: number }

/** Counts the bytes of one chunk in `count` while the chunk is sent, in one or more attempts. */
export function chunkProgress(size: number, count: SendCount) {
  let sent = 0
  /** The largest number of bytes sent by any attempt so far. Sending the same bytes again is not progress. */
  let furthest = 0

  return {
    /** Sets the number of bytes that the current attempt has sent. Returns whether this is progress. */
    setSent(bytes: number): boolean {
      count.bytesHere += bytes - sent
      count.bytesSent += Math.max(0, bytes - sent)
      sent = bytes
      if (bytes < furthest + stepBytes) return false
      furthest = bytes
      return true
    },

    /** Whether the current attempt has sent the whole chunk. */
    isWhole: () => sent === size,

    /** Records that the registry has the chunk. */
    finish() {
      count.bytesHere += size - sent
      sent = size
    },
  }
}
