import { bareHost, ipVersion, isLoopback } from '@shoal/core/addresses'
import { misuse } from '../terminal/failure.ts'

/**
 * The address of a registry as it was typed: `http://localhost:8000`, or a host alone. A host whose address is
 * already known keeps that one's scheme; otherwise a name of the public internet is taken to have HTTPS, and
 * loopback, an address in numbers or a name of the local network not.
 */
export function registryAddress(text: string, known: readonly string[] = []): string {
  const typed = text.trim()
  if (typed.includes('://')) return checked(typed, text)
  const knownAddress = known.find((address) => registryLabel(address) === typed.toLowerCase())
  if (knownAddress) return knownAddress
  const url = checked(`http://${typed}`, text)
  return isPublicName(new URL(url).hostname) ? url.replace('http:', 'https:') : url
}

/** How people call a registry: `localhost:8000`. */
export function registryLabel(address: string): string {
  return address.replace(/^https?:\/\//, '')
}

/** The address of a daemon as it was typed. With or without the `/v1` that OpenAI's clients want. */
export function daemonAddress(text: string): string {
  const typed = text.trim()
  const address = typed.includes('://') ? typed : `http://${typed}`
  return checked(address, text, { what: 'a daemon', example: 'http://localhost:11434' }).replace(
    /\/v1$/,
    '',
  )
}

const registry = { what: 'a registry', example: 'http://localhost:8000' }

function checked(address: string, typed: string, { what, example } = registry): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isWeb = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isWeb || url.username || url.search || url.hash) {
    throw misuse(`“${typed}” is not the address of ${what}.`, `One looks like ${example}.`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function isPublicName(hostname: string): boolean {
  const isNumeric = ipVersion(bareHost(hostname)) !== undefined
  const isLocal = !hostname.includes('.') || /\.(local|lan|home|internal|test)$/.test(hostname)
  return !isNumeric && !isLocal && !isLoopback(hostname)
}
