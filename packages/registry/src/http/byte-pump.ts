import type { ServerResponse } from 'node:http'
import { AppError } from '@shoal/core/errors'
import { type BudgetShare, sliceBytes } from '../store/byte-budget.ts'
import type { ObjectReader } from '../store/object-reader.ts'
import type { ByteRange } from '../store/object-store.ts'

/**
 * If sending a slice takes longer than this, the client is slow or has stopped reading. No data is then read ahead for
 * it.
 */
const slowAfterMs = 250
const maxBatchBytes = 1024 * 1024

type Options = {
  reader: ObjectReader
  range: ByteRange
  share: BudgetShare
  response: ServerResponse
  /** Aborted when the connection closes. */
  gone: AbortSignal
}

type Batch = { slices: Buffer[]; sizeBytes: number; filled: Promise<void> }

/**
 * Sends a range of an object. The first batch is one slice of 64 KiB. While the client keeps up, the batch size is
 * doubled, up to 1 MiB or half of the transfer's share of the buffer memory, whichever is less, and the next batch is
 * read while the current one is sent. The socket gets one slice at a time. If a slice is not sent within 250 ms, all
 * other buffers are released, and their data is read again after the slice has been sent.
 */
export function bytePump({ reader, range, share, response, gone }: Options) {
  const end = range.start + range.size
  /** Position of the first unsent byte. */
  let position = range.start
  let batchBytes = sliceBytes
  let batch = load(position)
  let ahead: Batch | undefined
  let slicesBegun = 0
  let slicesLeft = 0
  let failure: Error | undefined
  let wake: (() => void) | undefined

  gone.addEventListener('abort', () => wake?.(), { once: true })

  function load(from: number): Batch {
    const sizeBytes = Math.min(batchBytes, Math.ceil(share.maxBytes() / 2), end - from)
    const slices = share.take(sizeBytes)
    const filled = reader.fill(slices, from)
    filled.catch(() => undefined) // `await filled` throws the error, unless the batch is released first
    return { slices, sizeBytes, filled }
  }

  function giveBackAllButFirst() {
    share.give(batch.slices.splice(1))
    const unused = ahead
    ahead = undefined
    unused?.filled.then(
      () => share.give(unused.slices),
      () => share.give(unused.slices),
    )
  }

  const onLeft = (error?: Error | null) => {
    slicesLeft += 1
    failure ??= error ?? undefined
    if (slicesLeft === slicesBegun) wake?.()
  }

  /**
   * Writes directly to the socket, because writing to the response would delay each slice by an iteration of the event
   * loop. Returns whether the operating system has already accepted the slice.
   */
  function write(slice: Buffer): boolean {
    slicesBegun += 1
    const { socket } = response
    if (slicesBegun === 1 || !socket) {
      response.write(slice, onLeft) // sent together with the headers, after all earlier responses on this connection
      return false
    }
    socket.write(slice, onLeft)
    return socket.writableLength === 0
  }

  /** Resolves when all written slices have been sent, with `true` if this took less than `slowAfterMs`. */
  async function leave(): Promise<boolean> {
    let isSoon = true
    const timer = setTimeout(() => {
      isSoon = false
      giveBackAllButFirst()
    }, slowAfterMs)
    try {
      if (slicesLeft < slicesBegun) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      wake = undefined
      clearTimeout(timer)
    }
    gone.throwIfAborted()
    // A write fails only if the client has disconnected, which is known before the connection's `close` event.
    if (failure) throw new AppError('client_gone', failure.message, {}, { cause: failure })
    return isSoon
  }

  /** Sends the batch's slices, but stops after a slow one. Resolves to true if no slice was slow. */
  async function sendBatch(): Promise<boolean> {
    for (let slice = batch.slices[0]; slice; slice = batch.slices[0]) {
      const isSoon = write(slice) || (await leave())
      position += slice.byteLength
      share.give(batch.slices.splice(0, 1))
      if (!isSoon) return false
    }
    return true
  }

  return {
    /** Resolves when the first bytes have been read. Rejects if the object cannot be read. */
    ready: () => batch.filled,

    /**
     * Resolves when all bytes have been sent. Rejects if the connection closes before that, or if the object ends
     * early.
     */
    async send() {
      while (position < end) {
        await batch.filled
        gone.throwIfAborted()
        const next = position + batch.sizeBytes
        if (batchBytes > sliceBytes && next < end) ahead = load(next)
        const isFast = await sendBatch()
        batchBytes = isFast ? Math.min(2 * batchBytes, maxBatchBytes) : sliceBytes
        if (position < end) batch = ahead ?? load(position)
        ahead = undefined
      }
    },
  }
}
