import tls from 'node:tls'
import type { buildConnector, Dispatcher, Pool as PoolType } from 'undici'
// The parts of undici are imported separately, because loading all of undici takes twice the time and memory, in every
// thread.
import openTunnel from 'undici/lib/api/api-connect.js'
import newConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { proxyFor } from './proxy-for.ts'
import type { NetworkSettings } from './settings.ts'
import { sharedBuffer } from './shared-buffer.ts'

/** The connections of one thread, for all its requests: API calls, chunks, uploads and torrents. */
export interface Network {
  /** The settings with which the network was opened. */
  readonly settings: NetworkSettings
  /**
   * The dispatcher for requests to `url`, which are sent directly or through a proxy. URLs that are reached in the same
   * way share a dispatcher and its connections.
   */
  agentFor(url: URL): Dispatcher
  /** The URL of the proxy for `url`, including credentials; undefined if `url` is reached directly. */
  findProxy(url: URL): string | undefined
  /** Closes all connections immediately: requests in progress fail, and nothing can be sent afterwards. */
  destroy(): Promise<void>
}

type NetworkOptions = {
  /** Maximum number of connections per origin. Default: 8. */
  connections?: number
  /**
   * Whether all connections without a proxy read into one shared buffer. If so, the handler of a request must not refer
   * to the bytes of a response after `onResponseData` has returned. `sendRequest` must not be used with such a network.
   */
  sharesBuffer?: boolean
}

/** Opens a network. The caller must close its connections with `destroy`. */
export function openNetwork(
  settings: NetworkSettings,
  { connections = 8, sharesBuffer = false }: NetworkOptions = {},
): Network {
  const { connectMs } = settings.timeouts
  const common = {
    connections,
    allowH2: false, // the streams of an HTTP/2 connection share one flow-control window and stall together
    headersTimeout: settings.timeouts.headersMs,
    bodyTimeout: settings.timeouts.stallMs,
  }
  const byProxy = new Map<string, Dispatcher>()
  const direct = new Agent({ ...common, connect: connector(settings, sharesBuffer) })

  function agentFor(url: URL): Dispatcher {
    const proxy = proxyFor(url, settings)
    if (proxy === undefined) return direct
    // Certificates are loaded only if TLS is used, either to the proxy or through it.
    const isTls = url.protocol === 'https:' || proxy.startsWith('https:')
    const key = `${isTls} ${proxy}`
    const secure = isTls ? { secureContext: secureContext(settings.extraCa) } : {}
    const agent =
      byProxy.get(key) ??
      new ProxyAgent({
        ...common,
        uri: proxy,
        proxyTunnel: false, // plain HTTP is not tunneled: many proxies allow tunnels only to port 443
        connectTimeout: connectMs,
        factory: (origin: string, options: object) => new Pool(origin, { ...options, ...common }),
        clientFactory: (origin: URL, options: object) =>
          tunnelPool(origin, { ...options, ...common }),
        requestTls: secure,
        proxyTls: secure,
      })
    byProxy.set(key, agent)
    return agent
  }

  return {
    settings,
    agentFor,
    findProxy: (url) => proxyFor(url, settings),
    async destroy() {
      await Promise.all([direct, ...byProxy.values()].map((agent) => agent.destroy()))
    },
  }
}

/** Creates a `Pool`, and adds the method that opens tunnels, because a separately imported `Pool` lacks it. */
function tunnelPool(origin: URL, options: object): Dispatcher {
  return Object.assign(new Pool(origin, options as PoolType.Options), { connect: openTunnel })
}

function connector(
  { timeouts, extraCa }: NetworkSettings,
  sharesBuffer: boolean,
): buildConnector.connector {
  const common = {
    allowH2: false,
    timeout: timeouts.connectMs,
    ...(sharesBuffer && { onread: sharedBuffer() }),
  }
  const plain = newConnector(common)
  let secure: buildConnector.connector | undefined
  return (options, callback) => {
    if (options.protocol !== 'https:') return plain(options, callback)
    secure ??= newConnector({ ...common, secureContext: secureContext(extraCa) })
    secure(options, callback)
  }
}

const contexts = new Map<string, tls.SecureContext>()

/**
 * Returns a TLS context that trusts the certificate authorities of Node, the system and the user. Contexts are cached,
 * because creating one takes 80 ms.
 */
function secureContext(extraCa = ''): tls.SecureContext {
  const known = contexts.get(extraCa)
  if (known) return known
  const authorities = [...tls.getCACertificates('default'), ...tls.getCACertificates('system')]
  const context = tls.createSecureContext({
    ca: [...new Set(authorities), ...(extraCa ? [extraCa] : [])],
  })
  contexts.set(extraCa, context)
  return context
}
