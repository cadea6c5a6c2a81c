/**
 * How shoal's programs reach a registry over HTTP: proxies, certificates, timeouts, redirects, retries, and why it failed.
 * What makes requests itself is in `requests.ts`, which is slow to load.
 */
export { backoffMs, parseRetryAfter } from './backoff.ts'
export { registryTransport } from './registry-transport.ts'
export {
  directNetwork,
  NetworkSettingError,
  type NetworkSettings,
  readNetworkSettings,
  type Timeouts,
} from './settings.ts'
export { transferRetry } from './transfer-retry.ts'
