import { expect } from 'vitest'
import { type GgufHeader, parseGguf } from '../gguf.ts'
import { GgufError } from '../gguf-error.ts'

export function parseBytes(file: Uint8Array, fileSizeBytes = file.length): Promise<GgufHeader> {
  return parseGguf(async (offset, length) => file.subarray(offset, offset + length), fileSizeBytes)
}

/** The message of the GgufError that a file is refused with. */
export async function refusalOf(file: Uint8Array): Promise<string> {
  const error: unknown = await parseBytes(file).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(GgufError)
  return (error as GgufError).message
}
