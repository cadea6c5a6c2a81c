import { classifyAddress, plainAddress, type Reach } from './ip-address.ts'
import { bareHost, isLoopback } from './loopback.ts'
import { isPublicName } from './public-name.ts'

/**
 * Estimates where the server at a URL's hostname can be reached from, without resolving the name. Names in local
 * networks, such as `gpubox` or `nas.local`, are private. Connections to 0.0.0.0/8 and `::` reach this machine.
 */
export function reachOfHost(hostname: string): Reach {
  if (isLoopback(hostname)) return 'loopback'
  const address = plainAddress(bareHost(hostname))
  if (address === undefined) return isPublicName(hostname.replace(/\.$/, '')) ? 'public' : 'private'
  return /^0\.|^::$/.test(address) ? 'loopback' : classifyAddress(address)
}
