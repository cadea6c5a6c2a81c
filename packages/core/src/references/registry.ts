import { isPublicName } from '../addresses/index.ts'

/** The registry that the CLI uses unless the user has chosen another one. */
export const defaultRegistry = 'http://localhost:8000'

/**
 * Returns the shortest text that identifies a registry in references and in `--registry`: its address, without the
 * scheme if the CLI would assume that scheme. Undefined for the CLI's default registry.
 */
export function findRegistryLabel(address: string): string | undefined {
  if (address === defaultRegistry) return undefined
  const { hostname, protocol } = new URL(address)
  const assumed = isPublicName(hostname) ? 'https:' : 'http:'
  return protocol === assumed ? address.slice(`${protocol}//`.length) : address
}
