import { expect } from 'vitest'
import { type GgufHeader, parseGguf } from '../gguf/gguf.ts'

export function parseBytes(file: Uint8Array, fileSizeBytes = file.length): Promise<GgufHeader> {
  return parseGguf(async (offset, length) => file.subarray(offset, offset + length), fileSizeBytes)
}

/** Returns the error message for an invalid file. */
export async function getRefusal(file: Uint8Array): Promise<string> {
  const error: unknown = await parseBytes(file).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'invalid_gguf' })
  return (error as Error).message
}
