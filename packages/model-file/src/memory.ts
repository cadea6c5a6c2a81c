/** What models take in memory. The formula is here alone; `bench -- inference` and the daemon's tests hold it against what is taken. */
import type { GgufFacts } from './gguf-facts.ts'

export type MemoryNeed = {
  weightBytes: number
  /** Keys and values of all conversations at their full length. */
  cacheBytes: number
  overheadBytes: number
  totalBytes: number
}

type Use = {
  weightBytes: number
  /** Tokens of one conversation. */
  contextLength: number
  /** Conversations at a time. */
  conversations: number
}

type Dimensions = GgufFacts['dimensions']

/** Tokens of the one conversation that is meant where nobody says how long and how many. */
const usualContext = 8192
/** Keys and values are kept as 16-bit floats. */
const bytesPerValue = 2
const processBytes = 110e6
/** Of what is computed with a batch of tokens, for each number of an embedding: some 16 buffers of 512 rows of floats. */
const batchBytesPerNumber = 16 * 512 * 4
/** The tokenizer's tables: the token's text, and what it is merged of. */
const bytesPerToken = 1100

/** Where a header says too little: what a conversation of 8192 tokens takes of the weights' size again, and the rest. */
const usualCacheShare = 0.12
const usualOverheadBytes = 0.7e9

/** What running a model takes, from its header alone. Where the header says too little, a rule of thumb for its size. */
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

/** Bytes for one conversation of 8192 tokens, or of as many as the model was made for. */
export function memoryToRun(
  facts: Pick<GgufFacts, 'dimensions' | 'context_length'>,
  weightBytes: number,
): number {
  const contextLength = Math.min(usualContext, facts.context_length ?? usualContext)
  return computeMemory(facts, { weightBytes, contextLength, conversations: 1 }).totalBytes
}

/**
 * Bytes that a file adds to what its model takes with one conversation: of a split model the first part brings all but
 * the weights of the others, so that the parts add up. Null for what does not run by itself, and where the header does not tell.
 */
export function findFileMemory(
  facts: Pick<GgufFacts, 'role' | 'shard' | 'dimensions' | 'context_length'>,
  fileSizeBytes: number,
): number | null {
  const { role, shard, dimensions } = facts
  if (role === 'mmproj' || role === 'adapter') return null
  if (shard !== null && shard.index > 1) return fileSizeBytes
  const isReported =
    findCacheBytesPerToken(dimensions) !== undefined && findOverheadBytes(dimensions) !== undefined
  const bytes = isReported ? memoryToRun(facts, fileSizeBytes) : null
  return Number.isSafeInteger(bytes) ? bytes : null // a header may hold any numbers
}

/** For a file of which only the size is known. */
export function ruleOfThumb(fileSizeBytes: number): number {
  return Math.round(fileSizeBytes * (1 + usualCacheShare) + usualOverheadBytes)
}

function findCacheBytesPerToken(dimensions: Dimensions): number | undefined {
  const { layers, kv_heads, key_length, value_length } = dimensions
  if (!layers || kv_heads === null) return undefined
  const heads =
    typeof kv_heads === 'number' ? layers * kv_heads : kv_heads.reduce((sum, one) => sum + one, 0)
  if (heads === 0) return 0 // no attention, nothing to keep
  if (key_length === null || value_length === null) return undefined
  return heads * (key_length + value_length) * bytesPerValue
}

function findOverheadBytes({ embedding_length, vocabulary_size }: Dimensions): number | undefined {
  if (embedding_length === null) return undefined
  const tokenizerBytes = (vocabulary_size ?? 0) * bytesPerToken
  return processBytes + embedding_length * batchBytesPerNumber + tokenizerBytes
}
