import { createHash } from 'node:crypto'
import { plural } from '@shoal/core/units'
import { invalid } from '../errors.ts'
import type { BudgetShare } from './byte-budget.ts'

const maxFlushBytes = 1024 * 1024
/** If a sender pauses for this long, the bytes received so far are written instead of staying in memory. */
const flushAfterMs = 250

export type ExpectedChunk = { index: number; hash: string; start: number; size: number }

export type Incoming = { chunk: ExpectedChunk; body: AsyncIterable<Buffer>; share: BudgetShare }

/**
 * Hashes the body and writes it with `write`. If `write` is undefined, only checks the body. Throws if the body is not
 * the expected chunk.
 */
export async function receiveChunk(
  write: ((buffers: Buffer[], position: number) => Promise<void>) | undefined,
  { chunk, body, share }: Incoming,
): Promise<void> {
  const hash = createHash('sha256')
  let received = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let written: Promise<void> = Promise.resolve()

  /** Writes the waiting buffers, after all earlier writes. */
  function flush(): Promise<void> {
    const buffers = waiting
    const position = chunk.start + received - waitingBytes
    waiting = []
    waitingBytes = 0
    written = written.then(async () => {
      if (write && buffers.length > 0) await write(buffers, position)
      share.hold(waitingBytes)
    })
    return written
  }

  const pause = setTimeout(() => {
    flush().catch(() => undefined) // the next flush to be awaited throws this error
  }, flushAfterMs)
  try {
    for await (const bytes of body) {
      pause.refresh()
      received += bytes.length
      if (received > chunk.size)
        throw chunkMismatch(chunk, `is longer than ${plural(chunk.size, 'byte')}`)
      hash.update(bytes)
      waiting.push(bytes)
      waitingBytes += bytes.length
      share.hold(waitingBytes)
      if (waitingBytes >= Math.min(maxFlushBytes, share.maxBytes())) await flush()
    }
    if (received < chunk.size) {
      throw chunkMismatch(chunk, `has ${plural(received, 'byte')}, not ${chunk.size}`)
    }
    if (hash.digest('hex') !== chunk.hash) throw chunkMismatch(chunk, 'does not match its SHA-256')
    await flush()
  } finally {
    clearTimeout(pause)
    await written.catch(() => undefined) // wait for pending writes, since the caller closes the file next
  }
}

export function chunkMismatch(chunk: ExpectedChunk, what: string) {
  return invalid(`chunk ${chunk.index} ${what}; it was discarded`, { code: 'chunk_mismatch' })
}
