import { open } from 'node:fs/promises'
import { type GgufHeader, parseGguf } from './gguf.ts'
import type { KeptLimits } from './gguf-values.ts'

/** Reads the header of a local GGUF file. Throws `invalid_gguf` if the file is not a valid GGUF file. */
export async function readGgufFile(path: string, limits?: KeptLimits): Promise<GgufHeader> {
  await using file = await open(path)
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
