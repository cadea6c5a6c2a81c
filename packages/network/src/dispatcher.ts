import tls from 'node:tls'
import type { buildConnector, Dispatcher, Pool as PoolType } from 'undici'
// By their parts: the whole of undici takes twice the time and memory to load, in every thread.
import openTunnel from 'undici/lib/api/api-connect.js'
import newConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { proxyFor } from './proxy-for.ts'
import type { NetworkSettings } from './settings.ts'

export type Network = ReturnType<typeof openNetwork>

/**
 * What all requests of a thread go through: API, chunks, uploads and torrents. `connections` bounds those to one origin.
 * It keeps connections open until it is destroyed.
 */
export function openNetwork(settings: NetworkSettings, { connections = 8 } = {}) {
  const { connectMs } = settings.timeouts
  const common = {
    connections,
    allowH2: false, // one connection with many streams would share one window and one stall
    headersTimeout: settings.timeouts.headersMs,
    bodyTimeout: settings.timeouts.stallMs,
  }
  const byProxy = new Map<string, Dispatcher>()
  const direct = new Agent({ ...common, connect: connector(settings) })

  function agentFor(url: URL): Dispatcher {
    const proxy = proxyFor(url, settings)
    if (proxy === undefined) return direct
    // TLS by the kind of host: what a proxy is asked for in clear needs no certificates.
    const isTls = url.protocol === 'https:' || proxy.startsWith('https:')
    const key = `${isTls} ${proxy}`
    const secure = isTls ? { secureContext: secureContext(settings.extraCa) } : {}
    const agent =
      byProxy.get(key) ??
      new ProxyAgent({
        ...common,
        uri: proxy,
        proxyTunnel: false, // plain HTTP is asked of the proxy itself: many allow no other tunnel than to port 443
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
    /** Through which proxy requests to `url` go. */
    proxyOf: (url: URL) => proxyFor(url, settings),
    /** At once: what is running fails. */
    async destroy() {
      await Promise.all([direct, ...byProxy.values()].map((agent) => agent.destroy()))
    },
  }
}

/** Loaded by its parts, a pool lacks the method with which tunnels are opened. */
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

/** Node's authorities, the system's, and the user's own. Made once: it takes 80 ms. */
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
