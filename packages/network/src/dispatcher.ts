import tls from 'node:tls'
import type { buildConnector, Dispatcher, Pool as PoolType } from 'undici'
// Imported piecemeal: loading all of undici takes twice the time and memory, in every thread.
import openTunnel from 'undici/lib/api/api-connect.js'
import newConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { proxyFor } from './proxy-for.ts'
import type { NetworkSettings } from './settings.ts'

/** One thread's connections, for all its requests: API, chunks, uploads and torrents. */
export interface Network {
  /** The settings it was opened with. */
  readonly settings: NetworkSettings
  /**
   * The dispatcher for requests to `url`, direct or through its proxy. URLs reached the same way share a dispatcher and its
   * connections.
   */
  agentFor(url: URL): Dispatcher
  /** The URL of the proxy for `url`, with its credentials; undefined if there is none. */
  findProxy(url: URL): string | undefined
  /** Closes all connections immediately; running requests fail. Nothing can be sent afterwards. */
  destroy(): Promise<void>
}

/** `connections` is the maximum per origin. They stay open until the network is destroyed. */
export function openNetwork(settings: NetworkSettings, { connections = 8 } = {}): Network {
  const { connectMs } = settings.timeouts
  const common = {
    connections,
    allowH2: false, // the streams of one connection would share one window and stall together
    headersTimeout: settings.timeouts.headersMs,
    bodyTimeout: settings.timeouts.stallMs,
  }
  const byProxy = new Map<string, Dispatcher>()
  const direct = new Agent({ ...common, connect: connector(settings) })

  function agentFor(url: URL): Dispatcher {
    const proxy = proxyFor(url, settings)
    if (proxy === undefined) return direct
    // Certificates are loaded only if TLS is used, to the proxy or through it.
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

/** A `Pool` imported on its own lacks the method that opens tunnels. */
function tunnelPool(origin: URL, options: object): Dispatcher {
  return Object.assign(new Pool(origin, options as PoolType.Options), { connect: openTunnel })
}

function connector({ timeouts, extraCa }: NetworkSettings): buildConnector.connector {
  const timeout = timeouts.connectMs
  const plain = newConnector({ allowH2: false, timeout })
  let secure: buildConnector.connector | undefined
  return (options, callback) => {
    if (options.protocol !== 'https:') return plain(options, callback)
    secure ??= newConnector({ allowH2: false, timeout, secureContext: secureContext(extraCa) })
    secure(options, callback)
  }
}

const contexts = new Map<string, tls.SecureContext>()

/** Trusts Node's, the system's and the user's own authorities. Cached, because creating it takes 80 ms. */
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
