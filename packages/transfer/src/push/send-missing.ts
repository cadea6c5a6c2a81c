import { hasCode } from '@shoal/core/errors'
import { type MissingChunk, NetworkError } from '@shoal/protocol/client'
import { bytesRefused } from '../errors.ts'
import { TransferError } from '../failure.ts'
import { findMissingChunk } from './list-missing.ts'
import type { BlobPush, UnhashedPush } from './push-options.ts'

const maxRefusals = 5
/**
 * Minimum number of additional bytes that count as progress. Fewer bytes do not count, because a socket accepts some
 * data even if the server has stopped reading.
 */
const stepBytes = 256 * 1024

/** The progress of a push; see the event `sent`. */
export type SendCount = { bytesHere: number; bytesSent: number }

/** Sends chunks in parallel until the registry has all of them. */
export async function sendMissing(
  push: BlobPush,
  fileId: string,
  missing: readonly MissingChunk[],
): Promise<void> {
  const queue = missing.values()
  const bytesHere = missing.reduce((left, { size }) => left - size, push.manifest.file_size_bytes)
  await sendChunks(push, fileId, {
    take: async () => queue.next().value,
    count: { bytesHere, bytesSent: 0 },
  })
}

type SendOptions = {
  /** Returns the next chunk, or waits for it; undefined if there are no more. */
  take: () => Promise<MissingChunk | undefined>
  /** Updated while chunks are sent. */
  count: SendCount
}

/** Sends chunks in parallel until there are no more. */
export async function sendChunks(
  push: UnhashedPush,
  fileId: string,
  { take, count }: SendOptions,
): Promise<void> {
  const { port, retrier, report } = push
  const stop = new AbortController()
  const signal = AbortSignal.any([push.signal, stop.signal])
  const show = () => report({ type: 'sent', ...count })

  async function slot() {
    for (;;) {
      const chunk = await take()
      if (!chunk) return
      await sendOne(chunk)
    }
  }

  async function sendOne(given: MissingChunk) {
    const { size } = given
    let chunk: MissingChunk | undefined = given
    let refusals = 0
    let failures = 0
    let sent = 0
    /** The largest number of bytes sent by any attempt so far. Sending the same bytes again is not progress. */
    let furthest = 0
    function setSent(bytes: number) {
      count.bytesHere += bytes - sent
      count.bytesSent += Math.max(0, bytes - sent)
      sent = bytes
      show()
      if (bytes < furthest + stepBytes) return
      furthest = bytes
      retrier.noteMove()
    }
    /** Returns the chunk to send after `error`; undefined if the registry already has the chunk. */
    async function afterError(error: unknown, failed: MissingChunk, wasWhole: boolean) {
      if (!(error instanceof TransferError)) {
        refusals += 1
        return afterRefusal(error, failed, refusals)
      }
      await port.checkUnchanged()
      failures += 1
      await retrier.waitOrThrow(error.transferFailure, failures)
      // Perhaps only the response was lost. Asking the registry costs less than sending the chunk again.
      const mayBeStored = wasWhole && error.transferFailure.kind === 'lost'
      return mayBeStored ? findMissingChunk(push, fileId, failed) : failed
    }
    while (chunk !== undefined) {
      await retrier.waitUntilOpen()
      try {
        await port.putChunk(chunk, { signal, onSent: setSent })
        break
      } catch (error) {
        signal.throwIfAborted()
        const wasWhole = sent === size
        setSent(0)
        chunk = await afterError(error, chunk, wasWhole)
      }
    }
    count.bytesHere += size - sent
    show()
    retrier.noteMove()
  }

  /** Returns the chunk to send after a refusal. Throws if sending it again cannot help. */
  async function afterRefusal(error: unknown, chunk: MissingChunk, refusals: number) {
    if (!hasCode(error, 'registry_refused', 'bytes_refused')) throw error
    const { status = 0 } = error.details
    const isExpired = [401, 403, 404].includes(status)
    const isMismatch = status === 400
    if (refusals >= maxRefusals || !(isExpired || isMismatch)) {
      // Here, statuses 401, 403 and 404 concern the chunk's URL, not the user's credentials, so the error must not
      // suggest signing in.
      if (error.cause instanceof NetworkError) throw error.cause
      throw isExpired ? bytesRefused(error.message, status) : error
    }
    if (isMismatch) {
      await port.checkChunk(chunk)
      report({ type: 'bad-chunk', index: chunk.index })
    }
    return findMissingChunk(push, fileId, chunk)
  }

  show()
  try {
    await Promise.all(Array.from({ length: port.connections }, slot))
  } finally {
    stop.abort(new Error('the push is over'))
  }
}
