/** What a GGUF file's name says of it. */

const separator = '[-._ ]'
const label = [
  'IQ[1-4]_(?:XXS|XS|NL|S|M)',
  'Q4_0_[48]_[48]',
  'Q[1-8]_(?:[01]|K(?:_(?:XXS|XS|S|M|L|XL))?)',
  'TQ[12]_0',
  'MXFP4(?:_MOE)?',
  'NVFP4',
  'B?F16',
  'F(?:32|64)',
  'FP(?:16|32)',
].join('|')
const labels = new RegExp(`(?<=^|${separator})(?:${label})(?=$|${separator})`, 'gi')

/** The last quantization label of a name: `Q4_K_M` of `llama-3-8b.q4_k_m.gguf`. */
export function findQuantizationInFilename(filename: string): string | undefined {
  return filename.match(labels)?.at(-1)?.toUpperCase().replace('FP16', 'F16').replace('FP32', 'F32')
}

const shardSuffix = /-(\d{5})-of-(\d{5})\.gguf$/i

/** The place of a file in a split model, the first being 1: `{ index: 2, count: 5 }` of `m-00002-of-00005.gguf`. */
export type Shard = { index: number; count: number }

export function findShardInFilename(filename: string): Shard | undefined {
  const [, index, count] = (shardSuffix.exec(filename) ?? []).map(Number)
  if (index === undefined || count === undefined) return undefined
  return count > 1 && index >= 1 && index <= count ? { index, count } : undefined
}
