import type { MissingChunk } from '@shoal/protocol/client'
import { TransferError } from '../failure.ts'
import { afterRefusal } from './after-refusal.ts'
import { chunkProgress, type SendCount } from './chunk-progress.ts'
import { findMissingChunk } from './list-missing.ts'
import type { BlobPush, UnhashedPush } from './push-options.ts'

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
    const progress = chunkProgress(given.size, count)
    const errors = { refusals: 0, failures: 0 }
    function onSent(bytes: number) {
      const isProgress = progress.setSent(bytes)
      show()
      if (isProgress) retrier.noteMove()
    }
    let chunk: MissingChunk | undefined = given
    while (chunk !== undefined) {
      await retrier.waitUntilOpen()
      try {
        await port.putChunk(chunk, { signal, onSent })
        break
      } catch (error) {
        signal.throwIfAborted()
        const wasWhole = progress.isWhole()
        onSent(0)
        chunk = await afterError(error, chunk, wasWhole, errors)
      }
    }
    progress.finish()
    show()
    retrier.noteMove()
  }

  /** Returns the chunk to send after `error`; undefined if the registry already has the chunk. */
  async function afterError(
    error: unknown,
    chunk: MissingChunk,
    wasWhole: boolean,
    errors: { refusals: number; failures: number },
  ): Promise<MissingChunk | undefined> {
    if (error instanceof TransferError) {
      await port.checkUnchanged()
      errors.failures += 1
      await retrier.waitOrThrow(error.transferFailure, errors.failures)
      // Perhaps only the response was lost. Asking the registry costs less than sending the chunk again.
      const mayBeStored = wasWhole && error.transferFailure.kind === 'lost'
      if (!mayBeStored) return chunk
    } else {
      errors.refusals += 1
      if (afterRefusal(error, errors.refusals) === 'check') {
        await port.checkChunk(chunk)
        report({ type: 'bad-chunk', index: chunk.index })
      }
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
