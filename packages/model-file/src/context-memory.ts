import { usualCacheShare, usualContext } from './memory.ts'

type Context = {
  /** The context length to compute the memory for, in tokens. */
  tokens: number
  /** The model's context length; null if unknown. A longer context is not used. */
  maxTokens: number | null
  /** The memory for the keys and values of one token. */
  bytesPerToken: number
}

/** Converts the memory from `memoryToRun` or `ruleOfThumb` to another context length than the usual one. */
export function memoryWithContext(
  memoryBytes: number,
  { tokens, maxTokens, bytesPerToken }: Context,
): number {
  const limit = maxTokens ?? Number.POSITIVE_INFINITY
  const additional = Math.min(tokens, limit) - Math.min(usualContext, limit)
  return Math.round(memoryBytes + bytesPerToken * additional)
}

/** Estimates `bytesPerToken` for a file of which only the size is known, in accordance with `ruleOfThumb`. */
export const usualCacheBytesPerToken = (fileSizeBytes: number): number =>
  (fileSizeBytes * usualCacheShare) / usualContext
