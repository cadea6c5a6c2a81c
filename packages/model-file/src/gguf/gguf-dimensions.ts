import type { JsonValue } from './json-safe.ts'

/** The properties that determine a model's memory use. `heads` and `kv_heads` may differ between layers. */
export type GgufDimensions = {
  layers: number | null
  embedding_length: number | null
  heads: number | number[] | null
  kv_heads: number | number[] | null
  key_length: number | null
  value_length: number | null
  /** Number of tokens in the tokenizer's vocabulary. */
  vocabulary_size: number | null
}

type Metadata = Record<string, JsonValue>

export function readDimensions(metadata: Metadata, architecture: string | null): GgufDimensions {
  const count = (key: string) => findCount(metadata, `${architecture}.${key}`)
  const counts = (key: string) => findCounts(metadata, `${architecture}.${key}`)
  const embeddingLength = count('embedding_length')
  const heads = counts('attention.head_count')
  const perHead =
    embeddingLength !== null && typeof heads === 'number' && heads > 0
      ? Math.floor(embeddingLength / heads)
      : null
  return {
    layers: count('block_count'),
    embedding_length: embeddingLength,
    heads,
    kv_heads: counts('attention.head_count_kv') ?? heads,
    key_length: count('attention.key_length') ?? perHead,
    value_length: count('attention.value_length') ?? perHead,
    vocabulary_size: findLength(metadata, 'tokenizer.ggml.tokens'),
  }
}

export function findCount(metadata: Metadata, key: string): number | null {
  const value = metadata[key]
  return isCount(value) ? value : null
}

/** Reads one number, or one number per layer. */
function findCounts(metadata: Metadata, key: string): number | number[] | null {
  const value = metadata[key]
  if (!Array.isArray(value)) return findCount(metadata, key)
  const counts = value.filter(isCount)
  return counts.length > 0 && counts.length === value.length ? counts : null
}

/** Returns the full length of an array, even if only its first items were kept. */
function findLength(metadata: Metadata, key: string): number | null {
  const value = metadata[key]
  if (Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null && 'items' in value ? value.length : null
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
