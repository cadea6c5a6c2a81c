import { isPublicName } from '../addresses/index.ts'
import { shellWord } from './reference.ts'

/** The registry that the CLI uses unless the user has chosen another one. */
export const defaultRegistry = 'http://localhost:8000'

/**
 * Formats a reference that means the same model on every machine: `models.example.org/tide:Q8_0`. The registry is
 * omitted if it is the CLI's default. `registry` is its base URL.
 */
export function formatReference(registry: string, name: string, label?: string): string {
  const model = label === undefined ? name : `${name}:${label}`
  return registry === defaultRegistry ? model : `${shortenRegistry(registry)}/${model}`
}

/**
 * Returns the option with which a command uses this registry, preceded by a space. Empty if the registry is the CLI's
 * default.
 */
export const registryOption = (registry: string): string =>
  registry === defaultRegistry ? '' : ` --registry ${shellWord(shortenRegistry(registry))}`

/** Omits the scheme if it is the one that addresses without a scheme have. */
function shortenRegistry(registry: string): string {
  const { hostname, protocol } = new URL(registry)
  const assumed = isPublicName(hostname) ? 'https:' : 'http:'
  return protocol === assumed ? registry.slice(`${protocol}//`.length) : registry
}
