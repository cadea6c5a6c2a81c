import { usualCacheShare, usualContext } from './memory.ts'

type Context = {
  /** The context length for which the memory is computed, in tokens. */
  tokens: number
  /** The model's context length, which is the maximum; null if unknown. */
  maxTokens: number | null
  /** The memory for the keys and values of one token. */
  bytesPerToken: number
}

/**
 * Converts a result of `memoryToRun` or `ruleOfThumb`, which assume the default context length, to another context
 * length.
 */
export function memoryWithContext(
  memoryBytes: number,
  { tokens, maxTokens, bytesPerToken }: Context,
): number {
  const limit = maxTokens ?? Number.POSITIVE_INFINITY
  const additional = Math.min(tokens, limit) - Math.min(usualContext, limit)
  return Math.round(memoryBytes + bytesPerToken * additional)
}

/** Estimates `bytesPerToken` from the file size, with the same assumptions as `ruleOfThumb`. */
export const usualCacheBytesPerToken = (fileSizeBytes: number): number =>
  (fileSizeBytes * usualCacheShare) / usualContext
