/** Returns the text of a token, or its bytes if they are only a part of a character, as llama.cpp's server does. */
export function toPiece(bytes: number[]): string | number[] {
  const text = Buffer.from(bytes).toString()
  return Buffer.from(text).equals(Buffer.from(bytes)) ? text : bytes
}
