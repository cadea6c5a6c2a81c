import type { Transport } from '@shoal/protocol/client'
import type { NetworkSettings } from './settings.ts'

/**
 * The transport for a registry client in Node. The first request loads undici, which takes 50 ms and 16 MB. Connections
 * stay open for a few seconds, so that the next request can use them.
 */
export function registryTransport(settings: NetworkSettings): Transport {
  let opening: Promise<Transport> | undefined
  return async (request) => {
    opening ??= open(settings)
    return (await opening)(request)
  }
}

async function open(settings: NetworkSettings): Promise<Transport> {
  const [{ openNetwork }, { httpTransport }] = await Promise.all([
    import('./dispatcher.ts'),
    import('./http-transport.ts'),
  ])
  return httpTransport(openNetwork(settings))
}
