/** The bytes are not a GGUF file that we accept. The message says what is wrong with which part. */
export class GgufError extends Error {
  override readonly name = 'GgufError'
}
