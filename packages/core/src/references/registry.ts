import { isPublicName } from '../addresses/index.ts'

/** The registry that the CLI uses unless the user has chosen another one. */
export const defaultRegistry = 'http://localhost:8000'

/**
 * Returns the shortest text by which the CLI finds a registry in references and in `--registry`: its address, without
 * the scheme if that is the one that addresses without a scheme have. Undefined for the CLI's default registry.
 */
export function findRegistryLabel(address: string): string | undefined {
  if (address === defaultRegistry) return undefined
  const { hostname, protocol } = new URL(address)
  const assumed = isPublicName(hostname) ? 'https:' : 'http:'
  return protocol === assumed ? address.slice(`${protocol}//`.length) : address
}
