import type { Hash } from 'node:crypto'
import { readSync } from 'node:fs'

const blockBytes = 1 << 20
/**
 * One buffer per thread. If each chunk had its own buffer, many unused buffers would wait a long time for garbage
 * collection.
 */
let block: Buffer | undefined

/** Adds `size` bytes of the file, from `start`, to `hash`, synchronously. Returns the number of bytes read. */
export function hashPart(fd: number, hash: Hash, start: number, size: number): number {
  if (size === 0) return 0
  block ??= Buffer.allocUnsafeSlow(blockBytes)
  let done = 0
  while (done < size) {
    const bytes = readSync(fd, block, 0, Math.min(block.length, size - done), start + done)
    if (bytes === 0) break
    hash.update(bytes === block.length ? block : block.subarray(0, bytes))
    done += bytes
  }
  return done
}
