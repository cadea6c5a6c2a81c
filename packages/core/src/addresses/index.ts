/** Parses IP addresses and hostnames, and determines where they can be reached from. */
export {
  classifyAddress,
  getNetwork,
  ipVersion,
  packedAddress,
  plainAddress,
  type Reach,
} from './ip-address.ts'
export { bareHost, isLoopback, isLoopbackAddress } from './loopback.ts'
export { isPublicName } from './public-name.ts'
export { reachOfHost } from './reach-of-host.ts'
