import type Wire from 'bittorrent-protocol'

/** Limits how many bytes of one file may be sent to all peers together. */
export interface UploadQuota {
  /** Number of bytes of pieces sent so far. */
  sentBytes(): number
  /** Whether the quota is used up, so that nothing more may be sent. */
  isUsedUp(): boolean
  /** Must be called for each connection before the peer is unchoked. */
  watch(wire: Wire): void
  /** Whether a request for this many bytes may be answered. If so, the bytes count towards the quota. */
  reserve(bytes: number): boolean
}

const quotas = new WeakMap<Wire, UploadQuota>()

/** Whether a request may be answered. Always true for a connection without a quota. */
export const mayAnswer = (wire: Wire, bytes: number): boolean =>
  quotas.get(wire)?.reserve(bytes) ?? true

/** Creates a quota. Once `limitBytes` have been sent, no more blocks are sent. */
export function createUploadQuota(limitBytes: number): UploadQuota {
  const wires = new Set<Wire>()
  let sentBytes = 0
  /** Number of bytes sent or reserved: an upper bound, because some of the requests are canceled. */
  let reservedBytes = 0

  /** Number of bytes requested and not yet sent. */
  const bytesUnderway = () =>
    [...wires]
      .flatMap(({ peerRequests }) => peerRequests)
      .reduce((sum, { length }) => sum + length, 0)

  const quota: UploadQuota = {
    sentBytes: () => sentBytes,
    isUsedUp: () => sentBytes >= limitBytes,
    watch(wire) {
      wires.add(wire)
      quotas.set(wire, quota)
      wire.once('close', () => wires.delete(wire))
      wire.on('upload', (bytes: number) => {
        sentBytes += bytes
      })
    },
    reserve(bytes) {
      if (reservedBytes >= limitBytes) reservedBytes = sentBytes + bytesUnderway()
      if (reservedBytes >= limitBytes) return false
      reservedBytes += bytes
      return true
    },
  }
  return quota
}
