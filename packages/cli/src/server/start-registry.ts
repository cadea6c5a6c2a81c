import type { RegistryConfig } from '@shoal/registry'
import { listenFailure } from '../daemon/listen-failure.ts'

/** Starts a registry. If the registry cannot listen, the error names the option to change. */
export async function startRegistry(config: RegistryConfig) {
  const registry = await import('@shoal/registry')
  return await registry.startRegistry(config).catch(async (error: unknown) => {
    throw await listenFailure(error, '--port', undefined)
  })
}
