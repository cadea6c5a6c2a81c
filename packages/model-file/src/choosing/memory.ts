/**
 * The memory use of models. The formula is defined only here; `npm run bench -- inference` and the daemon's tests
 * compare its results with measurements.
 */
import type { GgufFacts } from '../gguf/gguf-facts.ts'
import { isOtherRole } from '../gguf/roles.ts'

export type MemoryNeed = {
  weightBytes: number
  /** The keys and values of all conversations at full context length. */
  cacheBytes: number
  overheadBytes: number
  totalBytes: number
}

type Use = {
  weightBytes: number
  /** Tokens per conversation. */
  contextLength: number
  /** Number of concurrent conversations. */
  conversations: number
}

type Dimensions = GgufFacts['dimensions']

/** Default context length, in tokens, for one conversation. */
export const usualContext = 8192
/** Keys and values are 16-bit floats. */
const bytesPerValue = 2
const processBytes = 130e6
/** The size of the compute buffers, per embedding dimension: about 16 buffers with 512 rows of 32-bit floats. */
const batchBytesPerNumber = 16 * 512 * 4
/** The size of the tokenizer's tables (strings and merges), per token. */
const bytesPerToken = 1100

/**
 * Estimates for headers with too little information: the cache of one conversation of 8192 tokens, as a share of the
 * weights, and the overhead.
 */
export const usualCacheShare = 0.12
const usualOverheadBytes = 0.7e9

/**
 * Returns the memory needed to run a model. It is computed from the header, or estimated from the file size if the
 * header has too little information.
 */
export function computeMemory(
  { dimensions }: Pick<GgufFacts, 'dimensions'>,
  { weightBytes, contextLength, conversations }: Use,
): MemoryNeed {
  const perToken =
    findCacheBytesPerToken(dimensions) ?? (weightBytes * usualCacheShare) / usualContext
  const cacheBytes = perToken * contextLength * conversations
  const overheadBytes = findOverheadBytes(dimensions) ?? usualOverheadBytes
  const totalBytes = weightBytes + cacheBytes + overheadBytes
  return { weightBytes, cacheBytes, overheadBytes, totalBytes }
}

/**
 * Returns the memory needed to run a model with one conversation of 8192 tokens, or of the model's context length if
 * that is shorter.
 */
export function memoryToRun(
  facts: Pick<GgufFacts, 'dimensions' | 'context_length'>,
  weightBytes: number,
): number {
  const contextLength = Math.min(usualContext, facts.context_length ?? usualContext)
  return computeMemory(facts, { weightBytes, contextLength, conversations: 1 }).totalBytes
}

/**
 * Returns a file's contribution to the memory use of its model with one conversation. For the first part of a split
 * model, the contribution is everything except the weights of the other parts. For each other part, it is that part's
 * weights. The contributions add up to the memory use of the model. Returns null if the file cannot be run, such as an
 * adapter, or if the header has too little information.
 */
export function findFileMemory(
  facts: Pick<GgufFacts, 'role' | 'shard' | 'dimensions' | 'context_length'>,
  fileSizeBytes: number,
): number | null {
  const { role, shard, dimensions } = facts
  if (isOtherRole(role)) return null
  if (shard !== null && shard.index > 1) return fileSizeBytes
  const isReported =
    findCacheBytesPerToken(dimensions) !== undefined && findOverheadBytes(dimensions) !== undefined
  const bytes = isReported ? memoryToRun(facts, fileSizeBytes) : null
  return Number.isSafeInteger(bytes) ? bytes : null // an untrusted header may contain absurd numbers
}

/**
 * Returns the memory for the keys and values of one token of context, which is the same for all quantizations of a
 * model. Returns null for files that add no keys and values, such as the later parts of a split model, and if the
 * header has too little information.
 */
export function findFileCacheBytes({
  role,
  shard,
  dimensions,
}: Pick<GgufFacts, 'role' | 'shard' | 'dimensions'>): number | null {
  if (isOtherRole(role) || (shard?.index ?? 1) > 1) return null
  const bytes = findCacheBytesPerToken(dimensions)
  return bytes !== undefined && Number.isSafeInteger(bytes) ? bytes : null
}

/** Estimates the memory needed to run a file, based only on the file size. */
export function ruleOfThumb(fileSizeBytes: number): number {
  return Math.round(fileSizeBytes * (1 + usualCacheShare) + usualOverheadBytes)
}

/** Returns the memory for the keys and values of one token, or undefined if there is too little information. */
export function findCacheBytesPerToken(dimensions: Dimensions): number | undefined {
  const { layers, kv_heads, key_length, value_length } = dimensions
  if (!layers || kv_heads === null) return undefined
  const heads =
    typeof kv_heads === 'number' ? layers * kv_heads : kv_heads.reduce((sum, one) => sum + one, 0)
  if (heads === 0) return 0 // no attention, so there are no keys and values
  if (key_length === null || value_length === null) return undefined
  return heads * (key_length + value_length) * bytesPerValue
}

function findOverheadBytes({ embedding_length, vocabulary_size }: Dimensions): number | undefined {
  if (embedding_length === null) return undefined
  const tokenizerBytes = (vocabulary_size ?? 0) * bytesPerToken
  return processBytes + embedding_length * batchBytesPerNumber + tokenizerBytes
}
