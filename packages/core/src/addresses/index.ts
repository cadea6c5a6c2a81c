/** IP addresses and host names: what they are, and who can connect to them. */
export {
  ipVersion,
  networkOf,
  packedAddress,
  plainAddress,
  type Reach,
  reachOf,
} from './ip-address.ts'
export { bareHost, isLoopback, isLoopbackAddress } from './loopback.ts'
