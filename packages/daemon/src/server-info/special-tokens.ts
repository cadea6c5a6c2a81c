import { basename } from 'node:path'
import { extractFacts, type GgufFacts } from '@shoal/model-file'
import type { LocalModel } from '../models/local-models.ts'
import { readHeader } from '../models/read-header.ts'

type SpecialTokens = { bos_token: string; eos_token: string }

/**
 * Returns a function that looks up a model's special tokens in its file's vocabulary. The vocabulary is slow to read
 * and too large to keep in memory, so the function caches only the special tokens until the file changes.
 */
export function specialTokensOf(): (model: LocalModel) => Promise<SpecialTokens> {
  /** The keys are the metadata of each file. If a file changes, its metadata become a new object. */
  const known = new WeakMap<GgufFacts['metadata'], SpecialTokens>()
  return async (model) => {
    const { metadata } = model.facts
    const tokens = known.get(metadata) ?? (await readSpecialTokens(model))
    known.set(metadata, tokens)
    return tokens
  }
}

async function readSpecialTokens(model: LocalModel): Promise<SpecialTokens> {
  const { metadata } = extractFacts(await readHeader(model), basename(model.path))
  const tokens = metadata['tokenizer.ggml.tokens']
  const tokenAt = (key: string): string => {
    const id = metadata[`tokenizer.ggml.${key}`]
    const token = Array.isArray(tokens) && typeof id === 'number' ? tokens[id] : undefined
    return typeof token === 'string' ? token : ''
  }
  return { bos_token: tokenAt('bos_token_id'), eos_token: tokenAt('eos_token_id') }
}
