import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import type { Token, TokenBias } from 'node-llama-cpp'

/**
 * The only private name of node-llama-cpp that is used. An update may remove it, so the library is pinned to one
 * version.
 */
type TokenBiasInternals = { _biases: Map<Token, number> }

/**
 * Sets the values added to the logit of each token. The library's `set` skips the tokens that end a text, which a
 * client may forbid as well.
 * @throws an error with the missing name and the version
 */
export function getBiases(bias: TokenBias): Map<Token, number> {
  const { _biases: biases } = bias as unknown as Partial<TokenBiasInternals>
  if (biases instanceof Map) return biases
  const manifest = findPackageJSON('node-llama-cpp', import.meta.url) ?? ''
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  throw new Error(`TokenBias._biases is missing in node-llama-cpp ${version}: run npm ci`)
}
