/**
 * How shoal's programs reach a registry over HTTP: proxies, certificates, timeouts, redirects, retries, and causes of
 * failures. `requests.ts` sends the requests and is loaded only when needed, because it loads slowly.
 */
export { backoffMs } from './backoff.ts'
export { registryTransport } from './registry-transport.ts'
export {
  directNetwork,
  NetworkSettingError,
  type NetworkSettings,
  networkSettings,
  readNetworkSettings,
  type Timeouts,
} from './settings.ts'
export { transferRetry } from './transfer-retry.ts'
