/**
 * How shoal's programs reach a registry over HTTP: proxies, certificates, timeouts, redirects, retries, and causes of
 * failures. The code that sends requests loads slowly, so it is loaded only when needed. Its entry point is
 * `requests.ts`.
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
