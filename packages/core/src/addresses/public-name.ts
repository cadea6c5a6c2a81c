import { ipVersion } from './ip-address.ts'
import { bareHost, isLoopback } from './loopback.ts'

/**
 * Whether a hostname is probably a public DNS name. If an address has no scheme, HTTPS is used for these names; HTTP is
 * used for loopback names, IP addresses and names in local networks.
 */
export function isPublicName(hostname: string): boolean {
  const isNumeric = ipVersion(bareHost(hostname)) !== undefined
  const isLocal = !hostname.includes('.') || /\.(local|lan|home|internal|test)$/.test(hostname)
  return !isNumeric && !isLocal && !isLoopback(hostname)
}
