import type { GgufHeader } from './gguf.ts'
import { elementCount, type GgufTensor } from './gguf-tensors.ts'
import { findFileTypeLabel } from './gguf-types.ts'
import { cleanText, type JsonValue, jsonSafe } from './json-safe.ts'
import { findQuantizationInFilename, findShardInFilename, type Shard } from './quantization.ts'

/** `model` runs by itself; a `shard` is a part of one, an `mmproj` its eye or ear, an `adapter` a LoRA for one. */
export type GgufRole = 'model' | 'mmproj' | 'adapter' | 'shard'

/** What the memory of a context depends on. `heads` and `kv_heads` may differ from layer to layer. */
export type GgufDimensions = {
  layers: number | null
  embedding_length: number | null
  heads: number | number[] | null
  kv_heads: number | number[] | null
  key_length: number | null
  value_length: number | null
}

export type GgufTensorSummary = {
  count: number
  parameters: number
  types: Record<string, { count: number; bytes: number; parameters: number }>
}

/** What a registry says of a file. JSON throughout, free of what PostgreSQL refuses. */
export type GgufFacts = {
  architecture: string | null
  name: string | null
  license: string | null
  role: GgufRole
  shard: Shard | null
  /** Elements of all tensors of this file. */
  parameter_count: number | null
  /** Tokens. */
  context_length: number | null
  /** A label such as `Q4_K_M`, or `unknown`. */
  quantization: string
  chat_template: string | null
  dimensions: GgufDimensions
  metadata: Record<string, JsonValue>
  tensor_summary: GgufTensorSummary
}

type Metadata = GgufHeader['metadata']

export function factsOf(header: GgufHeader, filename: string): GgufFacts {
  const { metadata } = header
  const architecture = findText(metadata, 'general.architecture')
  const tensorSummary = summaryOf(header.tensors)
  const shard = findShard(metadata, filename)
  return {
    architecture,
    name: findText(metadata, 'general.name'),
    license: findText(metadata, 'general.license'),
    role: roleOf(header, filename, shard),
    shard,
    parameter_count: tensorSummary.count > 0 ? tensorSummary.parameters : null,
    context_length: findCount(metadata, `${architecture}.context_length`),
    quantization: quantizationOf(metadata, tensorSummary, filename),
    chat_template: findText(metadata, 'tokenizer.chat_template'),
    dimensions: dimensionsOf(metadata, architecture),
    metadata: Object.fromEntries(
      Array.from(metadata, ([key, value]) => [cleanText(key), jsonSafe(value)]),
    ),
    tensor_summary: tensorSummary,
  }
}

function findText(metadata: Metadata, key: string): string | null {
  const value = metadata.get(key)
  return typeof value === 'string' && value !== '' ? cleanText(value) : null
}

function findCount(metadata: Metadata, key: string): number | null {
  const value = metadata.get(key)
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null
}

/** A number, or one for each layer. */
function findCounts(metadata: Metadata, key: string): number | number[] | null {
  const value = metadata.get(key)
  if (typeof value !== 'object' || !('items' in value)) return findCount(metadata, key)
  const counts = value.items.filter((item): item is number => Number.isSafeInteger(item))
  return counts.length > 0 && counts.length === value.length ? counts : null
}

function dimensionsOf(metadata: Metadata, architecture: string | null): GgufDimensions {
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
  }
}

/** The header knows better than the filename, which anybody may change. */
function findShard(metadata: Metadata, filename: string): Shard | null {
  const count = findCount(metadata, 'split.count')
  const zeroBasedIndex = findCount(metadata, 'split.no')
  if (count !== null && count > 1 && zeroBasedIndex !== null && zeroBasedIndex < count) {
    return { index: zeroBasedIndex + 1, count }
  }
  return findShardInFilename(filename) ?? null
}

function roleOf({ metadata }: GgufHeader, filename: string, shard: Shard | null): GgufRole {
  const type = findText(metadata, 'general.type')
  const architecture = findText(metadata, 'general.architecture')
  if (type === 'mmproj' || architecture === 'clip') return 'mmproj'
  if (type === 'adapter' || metadata.has('adapter.type')) return 'adapter'
  if (shard !== null) return 'shard'
  return type === null && /(?:^|[-._ ])mmproj(?:$|[-._ ])/i.test(filename) ? 'mmproj' : 'model'
}

function quantizationOf(
  metadata: Metadata,
  { types }: GgufTensorSummary,
  filename: string,
): string {
  const fileType = findCount(metadata, 'general.file_type')
  const label = fileType === null ? undefined : findFileTypeLabel(fileType)
  const [dominantType] = Object.entries(types).reduce(
    (most, entry) => (entry[1].bytes > most[1] ? ([entry[0], entry[1].bytes] as const) : most),
    [undefined, 0] as readonly [string | undefined, number],
  )
  return label ?? dominantType ?? findQuantizationInFilename(filename) ?? 'unknown'
}

function summaryOf(tensors: readonly GgufTensor[]): GgufTensorSummary {
  const types: GgufTensorSummary['types'] = {}
  let parameters = 0
  for (const { type, shape, sizeBytes } of tensors) {
    const elements = elementCount(shape)
    const total = types[type] ?? { count: 0, bytes: 0, parameters: 0 }
    types[type] = total
    total.count += 1
    total.bytes += sizeBytes
    total.parameters += elements
    parameters += elements
  }
  return { count: tensors.length, parameters, types }
}
