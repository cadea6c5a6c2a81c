import { type RateClock, rateClock } from '../rate-limit.ts'

/**
 * The state that all threads of one pull share: how much of each chunk is on disk, how much has been received, and when
 * the rate limit allows the next byte. The state is in shared memory, because sending a message for every 64 KiB would
 * cost more than handling the bytes.
 */
export type Board = {
  /**
   * For each chunk, the number of bytes written from its start without a gap. Written bytes are not necessarily
   * trusted.
   */
  written: Int32Array<SharedArrayBuffer>
  /** Number of bytes received over HTTP, valid or not. */
  received: BigInt64Array<SharedArrayBuffer>
  /** The state of the rate limit. */
  clock: RateClock
}

export function newBoard(chunkCount: number): Board {
  return {
    written: new Int32Array(new SharedArrayBuffer(chunkCount * 4)),
    received: new BigInt64Array(new SharedArrayBuffer(8)),
    clock: rateClock(),
  }
}

export function receivedBytes({ received }: Board): number {
  return Number(Atomics.load(received, 0))
}

export function writtenBytes({ written }: { written: Int32Array }): number {
  let sum = 0
  for (const bytes of written) sum += bytes
  return sum
}
