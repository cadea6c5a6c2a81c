import { isErrno, openFile } from '@shoal/files'
import { type GgufHeader, parseGguf } from './gguf.ts'
import { invalidGguf } from './gguf-error.ts'
import type { KeptLimits } from './gguf-values.ts'

/** Reads the header of a local GGUF file. Throws `invalid_gguf` if it is not a valid GGUF file or not a file. */
export async function readGgufFile(path: string, limits?: KeptLimits): Promise<GgufHeader> {
  await using file = await openFile(path).catch((error) => {
    throw isErrno(error, 'ENOTSUP') ? invalidGguf(error.message) : error
  })
  const { size } = await file.stat()
  return await parseGguf(
    async (offset, length) => {
      const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    },
    size,
    limits,
  )
}
