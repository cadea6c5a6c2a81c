import type { Readable } from 'node:stream'
import { silenceTimer } from '@shoal/core/async'
import type { ObjectReader } from '../object-reader.ts'
import type { ByteRange } from '../object-store.ts'
import { storeUnavailable, toStoreError } from './s3-client.ts'

/** Requests a range of an object. The signal ends the request and its response. */
export type GetRange = (range: ByteRange, signal: AbortSignal) => Promise<Readable>

type Options = {
  range: ByteRange
  /**
   * The maximum time to wait for the next part of a response. The time that the caller spends between two reads does
   * not count.
   */
  silenceMs: number
  /** When this signal is aborted, all reads, including one in progress, fail with its reason. */
  signal?: AbortSignal | undefined
}

/**
 * Reads a range of an object from one response, without reading ahead. If the caller jumps to another position, or the
 * response breaks off, the rest of the range is requested again.
 */
export function openS3Reader(
  getRange: GetRange,
  { range, silenceMs, signal }: Options,
): ObjectReader {
  const end = range.start + range.size
  const closed = new AbortController()
  const stop = signal ? AbortSignal.any([signal, closed.signal]) : closed.signal
  let source: ByteSource | undefined
  /** The previous call of `fill`. Calls run one at a time, even if the caller does not wait for them. */
  let last: Promise<unknown> = Promise.resolve()

  async function fill(buffers: Uint8Array[], position: number): Promise<void> {
    stop.throwIfAborted()
    if (source?.position() !== position) {
      source?.close()
      source = undefined
      const body = await getRange({ start: position, size: end - position }, stop)
      source = byteSource(body, position, silenceMs)
    }
    for (const buffer of buffers) await source.fill(buffer)
  }

  /** Like `fill`, but if the response breaks off, tries once more with a new response. */
  async function fillAgain(buffers: Uint8Array[], position: number): Promise<void> {
    try {
      await fill(buffers, position)
    } catch (error) {
      stop.throwIfAborted()
      if (!source) throw error
      source.close()
      source = undefined
      await fill(buffers, position)
    }
  }

  return {
    fill(buffers, position) {
      const filled = last
        .then(() => fillAgain(buffers, position))
        .catch((error) => {
          stop.throwIfAborted()
          throw toStoreError(error)
        })
      last = filled.catch(() => undefined) // the caller receives the error
      return filled
    },
    async close() {
      closed.abort(new Error('the object was closed'))
      source?.close()
      await last
    },
  }
}

type ByteSource = {
  /** Returns the position of the next byte in the object. */
  position(): number
  /** Throws if the response ends early or pauses for too long. */
  fill(buffer: Uint8Array): Promise<void>
  close(): void
}

function byteSource(body: Readable, start: number, silenceMs: number): ByteSource {
  const parts: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array()
  let position = start

  async function nextPart() {
    const timer = silenceTimer(silenceMs, () => {
      body.destroy(storeUnavailable(new Error(`no bytes for ${silenceMs} ms`)))
    })
    try {
      return await parts.next()
    } finally {
      timer.stop()
    }
  }

  return {
    position: () => position,
    async fill(buffer) {
      for (let filled = 0; filled < buffer.byteLength; ) {
        if (rest.byteLength === 0) {
          const { done, value } = await nextPart()
          if (done) throw new Error(`the object ends at byte ${position}`)
          rest = value
        }
        const part = rest.subarray(0, buffer.byteLength - filled)
        buffer.set(part, filled)
        rest = rest.subarray(part.byteLength)
        filled += part.byteLength
        position += part.byteLength
      }
    },
    close: () => body.destroy(),
  }
}
