import { writeFileSync } from 'node:fs'
import { makeGguf, type TensorInput } from '@shoal/model-file/testing'

const width = 64
/** The vocabulary, in which llama.cpp marks the beginnings of words. */
const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '▁fish', '▁swims', '▁stone', '▁rolls']

/** The embedding of a token: pseudorandom numbers from -1 to 1. */
const embed = (token: number) =>
  Array.from({ length: width }, (_, index) => Math.sin((token + 1) * 12.9898 + index * 78.233))

const classifier = Array.from({ length: width }, (_, index) => Math.cos(index * 3.7))

/**
 * Writes a model that ranks documents: a BERT with one layer, in which each token attends to all tokens alike, and a
 * classification head.
 */
export function writeRankingModel(
  path: string,
  { contextLength = 32, template }: { contextLength?: number; template?: string } = {},
) {
  const identity = Array.from({ length: width ** 2 }, (_, index) => (index % (width + 1) ? 0 : 1))
  const ones = Array.from({ length: width }, () => 1)
  const layer = (name: string) => `blk.0.${name}`
  const values: [name: string, shape: number[], values?: number[] | undefined][] = [
    ['token_embd.weight', [width, words.length], words.flatMap((_, token) => embed(token))],
    ['token_types.weight', [width, 2]],
    ['position_embd.weight', [width, contextLength]],
    ...['token_embd_norm', layer('attn_output_norm'), layer('layer_output_norm')].flatMap(
      (name): typeof values => [
        [`${name}.weight`, [width], ones],
        [`${name}.bias`, [width]],
      ],
    ),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_up', 'ffn_down'].flatMap(
      (name): typeof values => [
        [layer(`${name}.weight`), [width, width], /attn_[vo]/.test(name) ? identity : undefined],
        [layer(`${name}.bias`), [width]],
      ],
    ),
    ['cls.weight', [width, width], identity],
    ['cls.bias', [width]],
    ['cls.output.weight', [width, 1], classifier],
    ['cls.output.bias', [1]],
  ]
  const byName = new Map(values.map(([name, , numbers]) => [name, numbers]))
  const metadata = {
    'general.architecture': 'bert',
    'general.file_type': 0,
    'bert.context_length': contextLength,
    'bert.embedding_length': width,
    'bert.feed_forward_length': width,
    'bert.block_count': 1,
    'bert.attention.head_count': 1,
    'bert.attention.layer_norm_epsilon': { type: 'f32' as const, value: epsilon },
    'bert.attention.causal': false,
    'bert.pooling_type': 4,
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.pre': 'default',
    'tokenizer.ggml.tokens': words,
    'tokenizer.ggml.token_type': {
      type: 'i32' as const,
      value: words.map((word) => (/\[/.test(word) ? 3 : 1)),
    },
    'tokenizer.ggml.token_type_count': 2,
    'tokenizer.ggml.padding_token_id': 0,
    'tokenizer.ggml.unknown_token_id': 1,
    'tokenizer.ggml.bos_token_id': 2,
    'tokenizer.ggml.cls_token_id': 2,
    'tokenizer.ggml.seperator_token_id': 3, // the spelling that llama.cpp reads
    'tokenizer.ggml.mask_token_id': 4,
    ...(template !== undefined && { 'tokenizer.chat_template.rerank': template }),
  }
  const tensors = values.map(([name, shape]): TensorInput => ({ name, shape, type: 'F32' }))
  const fill = (data: Uint8Array, { name }: TensorInput) =>
    new Float32Array(data.buffer, data.byteOffset, data.length / 4).set(byName.get(name) ?? [])
  writeFileSync(path, makeGguf({ metadata, tensors, fill }))
}

const epsilon = 1e-12

/** The score that the model assigns to a query and a document, computed as described in the papers on BERT. */
export function computeScore(query: string, document: string): number {
  const tokensOf = (text: string) => text.split(' ').map((word) => words.indexOf(`▁${word}`))
  const tokens = [2, ...tokensOf(query), 3, ...tokensOf(document), 3]
  const inputs = tokens.map((token) => normalizeLayer(embed(token)))
  const mean = inputs.reduce((sum, one) => add(sum, one)).map((value) => value / inputs.length)
  const output = normalizeLayer(normalizeLayer(add(inputs[0] ?? [], mean)))
  const logit = output.reduce(
    (sum, value, index) => sum + Math.tanh(value) * (classifier[index] ?? 0),
    0,
  )
  return 1 / (1 + Math.exp(-logit))
}

const add = (a: number[], b: number[]) => a.map((value, index) => value + (b[index] ?? 0))

function normalizeLayer(vector: number[]): number[] {
  const mean = vector.reduce((sum, value) => sum + value, 0) / vector.length
  const variance = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0) / vector.length
  return vector.map((value) => (value - mean) / Math.sqrt(variance + epsilon))
}
