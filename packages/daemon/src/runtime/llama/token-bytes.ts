import type { LlamaModel, Token } from 'node-llama-cpp'

/** The bytes of a token. A token may contain only part of a character. */
export function tokenBytes(model: LlamaModel, token: Token): number[] {
  const { tokens, model: kind } = model.fileInfo.metadata.tokenizer.ggml
  const written = tokens[token] ?? ''
  const byte = /^<0x([0-9A-F]{2})>$/.exec(written)?.[1]
  if (byte !== undefined) return [Number.parseInt(byte, 16)]
  if (kind === 'gpt2') {
    const bytes = [...written].map((letter) => bytesByLetter.get(letter))
    if (bytes.every((one) => one !== undefined)) return bytes
  }
  return [...Buffer.from(model.detokenize([token], true))]
}

/**
 * GPT-2's vocabulary writes each byte as a character: printable bytes as themselves, and all others as characters from
 * U+0100 on.
 */
const bytesByLetter = new Map<string, number>()
const seen = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const
let hidden = 0x100
for (let byte = 0; byte < 256; byte += 1) {
  const isSeen = seen.some(([from, to]) => byte >= from && byte <= to)
  bytesByLetter.set(String.fromCodePoint(isSeen ? byte : hidden), byte)
  if (!isSeen) hidden += 1
}
