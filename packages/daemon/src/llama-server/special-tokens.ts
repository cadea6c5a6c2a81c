import { basename } from 'node:path'
import { extractFacts, type GgufFacts, readGgufFile, wholeArrays } from '@shoal/model-file'
import type { LocalModel } from '../models/local-models.ts'

type SpecialTokens = { bos_token: string; eos_token: string }

/**
 * Returns a function that finds a model's special tokens. It reads the file's vocabulary, which is too large to be kept
 * in memory and takes long to read, so the tokens are kept while the file is unchanged.
 */
export function specialTokensOf(): (model: LocalModel) => Promise<SpecialTokens> {
  /** By the facts of the file, which are read again when it changes. */
  const known = new WeakMap<GgufFacts, SpecialTokens>()
  return async ({ facts, path }) => {
    const tokens = known.get(facts) ?? (await readSpecialTokens(path))
    known.set(facts, tokens)
    return tokens
  }
}

async function readSpecialTokens(path: string): Promise<SpecialTokens> {
  const { metadata } = extractFacts(await readGgufFile(path, wholeArrays), basename(path))
  const tokens = metadata['tokenizer.ggml.tokens']
  const tokenAt = (key: string): string => {
    const id = metadata[`tokenizer.ggml.${key}`]
    const token = Array.isArray(tokens) && typeof id === 'number' ? tokens[id] : undefined
    return typeof token === 'string' ? token : ''
  }
  return { bos_token: tokenAt('bos_token_id'), eos_token: tokenAt('eos_token_id') }
}
