import { isPublicName } from '@shoal/core/addresses'
import { misuse } from '../terminal/failure.ts'

/**
 * Parses a registry's address: `http://localhost:8000`, or only a host. For a host in `known`, returns the known
 * address. Otherwise, a public hostname gets HTTPS, and a local hostname or an IP address gets HTTP.
 */
export function registryAddress(text: string, known: readonly string[] = []): string {
  const typed = text.trim()
  if (typed.includes('://')) return checked(typed, text)
  const knownAddress = known.find((address) => registryLabel(address) === typed.toLowerCase())
  if (knownAddress) return knownAddress
  const url = checked(`http://${typed}`, text)
  return isPublicName(new URL(url).hostname) ? url.replace('http:', 'https:') : url
}

/** Returns a registry's address without the scheme, for display: `localhost:8000`. */
export function registryLabel(address: string): string {
  return address.replace(/^https?:\/\//, '')
}

/** Parses the address of a daemon, and removes the `/v1` that OpenAI clients need. */
export function daemonAddress(text: string): string {
  const typed = text.trim()
  const address = typed.includes('://') ? typed : `http://${typed}`
  return checked(address, text, {
    what: 'daemon address',
    example: 'http://localhost:11434',
  }).replace(/\/v1$/, '')
}

const registry = { what: 'registry address', example: 'http://localhost:8000' }

function checked(address: string, typed: string, { what, example } = registry): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isWeb = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isWeb || url.username || url.search || url.hash) {
    throw misuse(`“${typed}” is not a valid ${what}.`, `Example: ${example}`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}
