/** Reads a whole body. If it is longer than `maxBytes`, stops reading, closes the connection and returns undefined. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
