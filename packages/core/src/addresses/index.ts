/** IP addresses and hostnames: parsing, and who can connect to them. */
export {
  classifyAddress,
  getNetwork,
  ipVersion,
  packedAddress,
  plainAddress,
  type Reach,
} from './ip-address.ts'
export { bareHost, isLoopback, isLoopbackAddress } from './loopback.ts'
