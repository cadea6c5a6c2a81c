import { hasCode } from '@shoal/core/errors'
import { extractFacts, parseGguf } from '@shoal/model-file/browser'

export type Facts = ReturnType<typeof extractFacts>

/** Returns the facts in a file's header, or the reason why the file is invalid or cannot be read. */
export async function readFacts(file: File): Promise<Facts | string> {
  try {
    return extractFacts(await parseGguf(makeReader(file), file.size), file.name)
  } catch (error) {
    if (hasCode(error, 'invalid_gguf')) return error.message
    if (error instanceof DOMException) return 'the file cannot be read'
    throw error
  }
}

const makeReader = (file: File) => async (offset: number, length: number) =>
  new Uint8Array(await file.slice(offset, offset + length).arrayBuffer())
