/** The memory of a model for other context lengths than the usual one. */
import { readDimensions } from './gguf-dimensions.ts'
import type { GgufFacts } from './gguf-facts.ts'
import { findCacheBytesPerToken, usualCacheShare, usualContext } from './memory.ts'
/**
 * The memory for the keys and values of one token, from the key/value pairs of a header; undefined if they have too
 * little information. All quantizations of a model have the same value.
 */
export function cacheBytesPerToken(json: Readonly<Record<string, unknown>>): number | undefined {
  const metadata = json as GgufFacts['metadata'] // parsed from JSON, so that it contains nothing else
  const architecture = metadata['general.architecture']
  return findCacheBytesPerToken(
    readDimensions(metadata, typeof architecture === 'string' ? architecture : null),
  )
}

type Context = {
  /** The context length to compute the memory for, in tokens. */
  tokens: number
  /** The model's context length; null if unknown. A longer context is not used. */
  maxTokens: number | null
  /** From `cacheBytesPerToken`. */
  bytesPerToken: number | undefined
}

/** Converts the memory from `memoryToRun` or `ruleOfThumb` to another context length. */
export function memoryWithContext(
  { memoryBytes, sizeBytes }: { memoryBytes: number; sizeBytes: number },
  { tokens, maxTokens, bytesPerToken }: Context,
): number {
  const limit = maxTokens ?? Number.POSITIVE_INFINITY
  const additional = Math.min(tokens, limit) - Math.min(usualContext, limit)
  const perToken = bytesPerToken ?? (sizeBytes * usualCacheShare) / usualContext
  return Math.round(memoryBytes + perToken * additional)
}
