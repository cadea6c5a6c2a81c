import { openObjectReader } from './object-reader.ts'
import type { ByteRange } from './object-store.ts'

const readSize = 1024 * 1024

/** The bytes of a range of a file. A yielded buffer is reused for the next one. */
export async function* readFileRange(
  path: string,
  { start, size }: ByteRange,
  signal?: AbortSignal,
) {
  const reader = await openObjectReader(path)
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
