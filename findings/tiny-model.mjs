/** A GGUF file for findings about llama.cpp. */
import { createHash } from 'node:crypto'

/** Returns a model of the architecture llama with one layer, random weights and one token for each byte. */
export function tinyModel() {
  const [width, hidden] = [32, 64]
  const tokens = ['<unk>', '<s>', '</s>']
  for (let byte = 0; byte < 256; byte += 1)
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer)
  const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
  const f32 = (value) => Buffer.from(Float32Array.of(value).buffer)
  const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
  const list = (type, values, write) => [
    u32(9),
    u32(type),
    u64(values.length),
    ...values.map(write),
  ]
  const number = (value) => [u32(4), u32(value)]
  const metadata = {
    'general.architecture': [u32(8), text('llama')],
    'llama.context_length': number(128),
    'llama.embedding_length': number(width),
    'llama.block_count': number(1),
    'llama.feed_forward_length': number(hidden),
    'llama.attention.head_count': number(2),
    'llama.attention.layer_norm_rms_epsilon': [u32(6), f32(1e-5)],
    'llama.rope.dimension_count': number(width / 2),
    'tokenizer.ggml.model': [u32(8), text('llama')],
    'tokenizer.ggml.tokens': list(8, tokens, text),
    'tokenizer.ggml.scores': list(6, tokens, () => f32(0)),
    'tokenizer.ggml.token_type': list(5, tokens, (_, at) => u32(at === 0 ? 2 : at < 3 ? 3 : 6)),
  }
  const tensors = Object.entries({
    'token_embd.weight': [width, tokens.length],
    'output_norm.weight': [width],
    'output.weight': [width, tokens.length],
    'blk.0.attn_norm.weight': [width],
    'blk.0.attn_q.weight': [width, width],
    'blk.0.attn_k.weight': [width, width],
    'blk.0.attn_v.weight': [width, width],
    'blk.0.attn_output.weight': [width, width],
    'blk.0.ffn_norm.weight': [width],
    'blk.0.ffn_gate.weight': [width, hidden],
    'blk.0.ffn_up.weight': [width, hidden],
    'blk.0.ffn_down.weight': [hidden, width],
  })
  let offset = 0
  const headers = []
  const data = []
  for (const [name, shape] of tensors) {
    const size = 4 * shape.reduce((product, length) => product * length, 1)
    headers.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset))
    const values = createHash('shake256', { outputLength: size / 4 })
      .update(name)
      .digest()
    data.push(Buffer.from(Float32Array.from(values, (byte) => (byte - 127.5) / 400).buffer))
    offset += size // a multiple of 32, to which GGUF aligns tensors
  }
  const pairs = Object.entries(metadata).flatMap(([key, value]) => [text(key), ...value])
  const header = Buffer.concat([
    ...[Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)],
    ...pairs,
    ...headers,
  ])
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data])
}
