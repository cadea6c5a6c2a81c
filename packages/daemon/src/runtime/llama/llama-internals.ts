import { readFileSync } from 'node:fs'
import nodeModule from 'node:module'
import type { Token, TokenBias } from 'node-llama-cpp'

/**
 * The only private member of node-llama-cpp that shoal uses. An update may remove this member, so the library is pinned
 * to one version.
 */
type TokenBiasInternals = { _biases: Map<Token, number> }

/**
 * Returns the map of the values that are added to the logits, by token. The library's `set` skips end-of-generation
 * tokens, but a client may forbid those tokens too.
 * @throws an error that names the missing member and the library's version
 */
export function getBiases(bias: TokenBias): Map<Token, number> {
  const { _biases: biases } = bias as unknown as Partial<TokenBiasInternals>
  if (biases instanceof Map) return biases
  // Node versions before 22.14 lack this function, so it cannot be imported by name.
  const manifest = nodeModule.findPackageJSON?.('node-llama-cpp', import.meta.url)
  const version = manifest ? JSON.parse(readFileSync(manifest, 'utf8')).version : ''
  throw new Error(`TokenBias._biases is missing from node-llama-cpp ${version}: run npm ci`)
}
