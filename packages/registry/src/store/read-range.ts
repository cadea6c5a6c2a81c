import type { ObjectReader } from './object-reader.ts'
import type { ByteRange } from './object-store.ts'

const readSize = 1024 * 1024

/** Yields the bytes of a range of an object, and then closes the reader. Each yielded buffer is reused for the next. */
export async function* readRange(
  reader: ObjectReader,
  { start, size }: ByteRange,
  signal?: AbortSignal,
) {
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(size, readSize))
    for (let read = 0; read < size; ) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, size - read))
      await reader.fill([bytes], start + read)
      signal?.throwIfAborted()
      read += bytes.length
      yield bytes
    }
  } finally {
    await reader.close()
  }
}
