import type { GgufHeader } from './gguf.ts'
import { findCount, type GgufDimensions, readDimensions } from './gguf-dimensions.ts'
import { elementCount, type GgufTensor } from './gguf-tensors.ts'
import { findFileTypeLabel } from './gguf-types.ts'
import { cleanText, type JsonValue, jsonSafe } from './json-safe.ts'
import { findQuantizationInFilename } from './quantization.ts'
import type { GgufRole } from './roles.ts'
import { findShardInFilename, type Shard } from './shards.ts'

export type GgufTensorSummary = {
  count: number
  parameters: number
  types: Record<string, { count: number; bytes: number; parameters: number }>
}

/** The information that a registry stores about a file, as JSON without values that PostgreSQL rejects. */
export type GgufFacts = {
  architecture: string | null
  name: string | null
  license: string | null
  role: GgufRole
  shard: Shard | null
  /** Total number of elements in the tensors of this file. */
  parameter_count: number | null
  /** In tokens. */
  context_length: number | null
  /** A label such as `Q4_K_M`, or `unknown`. */
  quantization: string
  chat_template: string | null
  dimensions: GgufDimensions
  metadata: Record<string, JsonValue>
  tensor_summary: GgufTensorSummary
}

/** The header's key/value pairs, as registries store and send them. */
type Metadata = GgufFacts['metadata']

/** The facts that can be derived from the key/value pairs and the filename, without the tensors. */
export type MetadataFacts = Omit<
  GgufFacts,
  'parameter_count' | 'quantization' | 'metadata' | 'tensor_summary'
>

export function extractFacts(header: GgufHeader, filename: string): GgufFacts {
  const metadata: Metadata = Object.fromEntries(
    Array.from(header.metadata, ([key, value]) => [cleanText(key), jsonSafe(value)]),
  )
  const tensorSummary = summarizeTensors(header.tensors)
  const facts = readMetadataFacts(metadata, filename)
  const hasOnlyWords = tensorSummary.count === 0 && 'tokenizer.ggml.tokens' in metadata
  return {
    ...facts,
    role: facts.role === 'model' && hasOnlyWords ? 'vocabulary' : facts.role,
    parameter_count: tensorSummary.count > 0 ? tensorSummary.parameters : null,
    quantization: findQuantization(metadata, tensorSummary, filename),
    metadata,
    tensor_summary: tensorSummary,
  }
}

export function readMetadataFacts(metadata: Metadata, filename: string): MetadataFacts {
  const architecture = findText(metadata, 'general.architecture')
  const shard = findShard(metadata, filename)
  return {
    architecture,
    name: findText(metadata, 'general.name'),
    license: findText(metadata, 'general.license'),
    role: findRole(metadata, filename, shard),
    shard,
    context_length: findCount(metadata, `${architecture}.context_length`),
    chat_template: findText(metadata, 'tokenizer.chat_template'),
    dimensions: readDimensions(metadata, architecture),
  }
}

function findText(metadata: Metadata, key: string): string | null {
  const value = metadata[key]
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * Finds the position of a file in a split model. The header takes precedence over the filename, because anyone can
 * change the filename.
 */
function findShard(metadata: Metadata, filename: string): Shard | null {
  const count = findCount(metadata, 'split.count')
  const zeroBasedIndex = findCount(metadata, 'split.no')
  if (count !== null && count > 1 && zeroBasedIndex !== null && zeroBasedIndex < count) {
    return { index: zeroBasedIndex + 1, count }
  }
  return findShardInFilename(filename) ?? null
}

function findRole(metadata: Metadata, filename: string, shard: Shard | null): GgufRole {
  const type = findText(metadata, 'general.type')
  const architecture = findText(metadata, 'general.architecture')
  if (type === 'mmproj' || architecture === 'clip') return 'mmproj'
  if (type === 'adapter' || 'adapter.type' in metadata) return 'adapter'
  if (type === 'imatrix' || 'imatrix.chunk_count' in metadata) return 'imatrix'
  if (architecture === 'controlvector') return 'control-vector'
  if (shard !== null) return 'shard'
  return type === null && /(?:^|[-._ ])mmproj(?:$|[-._ ])/i.test(filename) ? 'mmproj' : 'model'
}

function findQuantization(
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

function summarizeTensors(tensors: readonly GgufTensor[]): GgufTensorSummary {
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
