import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readGgufFile } from '../gguf/gguf-file.ts'
import { type GgufArray, wholeArrays } from '../gguf/gguf-values.ts'
import { type MetadataInput, makeGguf, type TensorInput } from './make-gguf.ts'

/** The bundled model, which is small and has the same vocabulary as the generated models. */
export const demoModel = join(
  import.meta.dirname,
  '../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf',
)

const width = 768
const layers = 12
const hidden = 2048
const heads = 12
const keyHeads = 4
export const syntheticContext = 8192
/** `LLAMA_TOKEN_TYPE_NORMAL` in llama.cpp. */
const normalToken = 1

/**
 * Writes a model with 86 million weights and the vocabulary of the demo model. The weights are pseudorandom, except in
 * BF16. If `vocabularySize` exceeds the size of that vocabulary, tokens are added to it, so the model has more weights.
 * The output of the model is meaningless, but its speed is typical for its size.
 */
export async function writeSyntheticModel(
  path: string,
  type: SyntheticType,
  { vocabularySize = 0 } = {},
): Promise<void> {
  const { metadata } = await readGgufFile(demoModel, wholeArrays)
  const tokenizer = [...metadata].filter(([key]) => key.startsWith('tokenizer.'))
  const { items: words } = metadata.get('tokenizer.ggml.tokens') as GgufArray
  const { items: wordTypes } = metadata.get('tokenizer.ggml.token_type') as GgufArray
  while (words.length < vocabularySize) {
    words.push(`word${words.length}`)
    wordTypes.push(normalToken)
  }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(
    path,
    makeGguf({
      metadata: {
        'general.architecture': 'llama',
        'general.name': 'synthetic random',
        'general.file_type': types[type].fileType,
        'llama.context_length': syntheticContext,
        'llama.embedding_length': width,
        'llama.block_count': layers,
        'llama.feed_forward_length': hidden,
        'llama.attention.head_count': heads,
        'llama.attention.head_count_kv': keyHeads,
        'llama.rope.dimension_count': width / heads,
        'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
        'llama.vocab_size': words.length,
        ...Object.fromEntries(tokenizer.map(([key, value]) => [key, toInput(value)])),
      },
      tensors: tensors(words.length, type),
      fill,
    }),
  )
}

function toInput(value: unknown): MetadataInput {
  if (typeof value !== 'object') return value as MetadataInput
  const { type, items } = value as GgufArray
  return { type, value: items }
}

function tensors(words: number, type: SyntheticType): TensorInput[] {
  const weights = (name: string, ...shape: number[]) => ({
    name: `${name}.weight`,
    shape,
    type,
  })
  const norm = (name: string) => ({ name: `${name}.weight`, shape: [width], type: 'F32' })
  const keys = (width / heads) * keyHeads
  const layer = (index: number) => {
    const at = (name: string) => `blk.${index}.${name}`
    return [
      norm(at('attn_norm')),
      weights(at('attn_q'), width, width),
      weights(at('attn_k'), width, keys),
      weights(at('attn_v'), width, keys),
      weights(at('attn_output'), width, width),
      norm(at('ffn_norm')),
      weights(at('ffn_gate'), width, hidden),
      weights(at('ffn_up'), width, hidden),
      weights(at('ffn_down'), hidden, width),
    ]
  }
  return [
    weights('token_embd', width, words),
    norm('output_norm'),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
  ]
}

/** Each quantized block of 32 weights begins with its scale, a 16-bit float that results in weights of about 0.02. */
const types = {
  BF16: { fileType: 32, blockBytes: 2, scale: 0x3ca4 }, // each block is a single weight, so all weights have this value
  Q8_0: { fileType: 7, blockBytes: 34, scale: 0x0c6d },
  Q4_0: { fileType: 2, blockBytes: 18, scale: 0x1c74 },
}
/**
 * A seed that works: with some others, a response in `bench -- inference` ends within a character, and llama-server
 * reports an error.
 */
const seed = 1
export type SyntheticType = keyof typeof types

function fill(data: Uint8Array, { type }: TensorInput) {
  if (type === 'F32') return new Float32Array(data.buffer, data.byteOffset, data.length / 4).fill(1)
  const { blockBytes, scale } = types[type as SyntheticType]
  fillAtRandom(data)
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  for (let block = 0; block < data.length; block += blockBytes) {
    view.setUint16(block, scale, true)
  }
}

/** Fills `data` with the same pseudorandom bytes in each run (Mulberry32), so that the model's output is repeatable. */
function fillAtRandom(data: Uint8Array) {
  const numbers = new Uint32Array(Math.ceil(data.length / 4))
  let state = data.length + seed
  for (let index = 0; index < numbers.length; index += 1) {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    numbers[index] = mixed ^ (mixed >>> 14)
  }
  data.set(new Uint8Array(numbers.buffer, 0, data.length))
}
