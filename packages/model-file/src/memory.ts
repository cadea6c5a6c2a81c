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

/** Keys and values are kept as 16-bit floats. */
const bytesPerValue = 2
const processBytes = 120e6
/** Of what is computed with a batch of tokens, for each number of an embedding: some 40 buffers of 512 rows of floats. */
const batchBytesPerNumber = 40 * 512 * 4

/** What running a model takes, from its header alone. Where the header says too little, a rule of thumb for its size. */
export function memoryOf(
  { dimensions }: Pick<GgufFacts, 'dimensions'>,
  { weightBytes, contextLength, conversations }: Use,
): MemoryNeed {
  const perToken = cacheBytesPerToken(dimensions) ?? weightBytes * 2e-5
  const cacheBytes = perToken * contextLength * conversations
  const overheadBytes = processBytes + (dimensions.embedding_length ?? 4096) * batchBytesPerNumber
  const totalBytes = weightBytes + cacheBytes + overheadBytes
  return { weightBytes, cacheBytes, overheadBytes, totalBytes }
}

function cacheBytesPerToken({
  layers,
  kv_heads,
  key_length,
  value_length,
}: GgufFacts['dimensions']): number | undefined {
  if (!layers || kv_heads === null || key_length === null || value_length === null) return undefined
  const heads =
    typeof kv_heads === 'number' ? layers * kv_heads : kv_heads.reduce((sum, one) => sum + one, 0)
  return heads * (key_length + value_length) * bytesPerValue
}
