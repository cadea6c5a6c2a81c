/**
 * A proxy that injects faults between the CLI and a registry. It works both as a reverse proxy and as a forward proxy.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext, TLSSocket } from 'node:tls'
import { type CertificateFiles, testCertificates } from '../../testing/tls-certificates/index.ts'
import { type Exchange, exchangeWith } from './exchange.ts'
import type { Place } from './places.ts'

/** How the proxy treats a new connection before it reads a request. */
export type ConnectionMode =
  | { answers: 'as it should' }
  | { answers: 'refused' | 'reset' | 'nothing' | 'plain HTTP' | 'TLS' | 'a banner' }
  | { answers: 'with a certificate'; certificate: CertificateFiles }

export type Arming = {
  /** The places to harm. Harmed requests are counted separately for each place. */
  places: readonly Place[]
  /** How many requests to each place, or how many connections, are harmed. */
  times: number
  /** How many requests to each place pass unharmed before the first one is harmed. */
  after: number
  /** The harm to a request, or to all connections beginning with that request. */
  harm: RequestHarm | ConnectionHarm | ConnectHarm
  /** Responses to these places are sent slowly until the first request has been harmed. */
  slowPlaces?: readonly Place[]
}

export type RequestHarm = {
  level: 'request'
  do(exchange: Exchange): void | Promise<void>
  /** Returns whether to harm a request. If omitted, requests to the places in `Arming` are harmed. */
  hits?: (place: Place | undefined, request: IncomingMessage) => boolean
}

export type ConnectionHarm = {
  level: 'connection'
  mode: ConnectionMode
  /** How long a port stays closed. A duration is needed, because connections to a closed port cannot be counted. */
  liftAfterMs?: number
}

/** The forward proxy's response to CONNECT. */
export type ConnectHarm = { level: 'connect'; answer: string }

/** The pause after each part of a slow response. It is much shorter than the timeout for a silent connection. */
const slowPauseMs = 500

const asItShould: ConnectionMode = { answers: 'as it should' }

/**
 * Starts a proxy. Its address is `https://localhost:<port>` if `isTls` is set. `registryPort` is called for each
 * request.
 */
export async function startFaultProxy({ isTls, registryPort }: Options) {
  const sockets = new Set<Socket>()
  let armed: Arming | undefined
  let harmed = new Map<Place | undefined, number>()
  let passed = new Map<Place | undefined, number>()
  let mode = asItShould
  let modeTimes = 0
  let lifting: NodeJS.Timeout | undefined

  const http = createHttpServer({ requestTimeout: 0, keepAliveTimeout: 60_000 })
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = exchangeWith(request, response, {
      registryPort: registryPort(),
      joinsSwarm: armed?.places.includes('web seed') ?? false,
    })
    const harm = harmTo(exchange.place, request)
    const work = harm ? harm.do(exchange) : exchange.pass(pauseFor(exchange.place))
    Promise.resolve(work).catch(() => exchange.drop()) // the other side has closed the connection
  })
  http.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (armed?.harm.level === 'connect' && count(undefined)) {
      socket.end(armed.harm.answer)
      return
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.unshift(head)
    if (request.url?.endsWith(':443')) secure(socket as Socket, testCertificates.valid)
    else http.emit('connection', socket)
  })
  http.on('clientError', (_error: Error, socket: Duplex) => {
    // Servers send this response if a client sends something other than HTTP, such as TLS.
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
  })

  /** Returns the pause after each part of a response from this place; undefined for a response without pauses. */
  function pauseFor(place: Place | undefined) {
    if (place === undefined || !armed?.slowPlaces?.includes(place)) return undefined
    return async () => {
      if (armed && harmed.size === 0) await sleep(slowPauseMs)
    }
  }

  /** Counts a request to this place, and returns whether to harm it. */
  function count(place: Place | undefined): boolean {
    const times = harmed.get(place) ?? 0
    if (!armed || times >= armed.times) return false
    const before = passed.get(place) ?? 0
    passed.set(place, before + 1)
    if (before < armed.after) return false
    harmed.set(place, times + 1)
    return true
  }

  function harmTo(place: Place | undefined, request: IncomingMessage): RequestHarm | undefined {
    if (!armed || armed.harm.level === 'connect') return undefined
    const { harm, places } = armed
    const isHit =
      harm.level === 'request' && harm.hits
        ? harm.hits(place, request)
        : place !== undefined && places.includes(place)
    if (!isHit) return undefined
    if (harm.level === 'request') return count(place) ? harm : undefined
    if (mode !== asItShould || harmed.size > 0) return undefined
    if (!count(place)) return undefined
    begin(harm)
    return { level: 'request', do: (exchange) => exchange.reset() }
  }

  /** Begins to harm new connections, and closes the open ones. */
  function begin(harm: ConnectionHarm) {
    mode = harm.mode
    modeTimes = armed?.times ?? 0
    for (const socket of sockets) isTls ? socket.destroy() : socket.resetAndDestroy()
    if (mode.answers === 'refused') server.close()
    if (modeTimes === Number.POSITIVE_INFINITY || harm.liftAfterMs === undefined) return
    modeTimes = Number.POSITIVE_INFINITY
    lifting = setTimeout(() => void lift(), harm.liftAfterMs)
  }

  async function lift() {
    clearTimeout(lifting)
    mode = asItShould
    if (!server.listening) await listenOn(server, port)
  }

  function secure(socket: Socket, { certificate, key }: CertificateFiles) {
    const secureContext = createSecureContext({
      cert: readFileSync(certificate),
      key: readFileSync(key),
    })
    const secured = new TLSSocket(socket, { isServer: true, secureContext })
    secured.on('error', () => secured.destroy()) // the client reports the certificates that it refuses
    http.emit('connection', secured)
  }

  function connected(socket: Socket) {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy()) // the other side has closed the connection
    const met = mode
    if (met !== asItShould) modeTimes -= 1
    if (modeTimes <= 0 && mode !== asItShould) mode = asItShould
    if (met.answers === 'reset') socket.resetAndDestroy()
    else if (met.answers === 'nothing') socket.resume()
    else if (met.answers === 'a banner') socket.end('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n')
    else if (met.answers === 'plain HTTP') http.emit('connection', socket)
    else if (met.answers === 'TLS') secure(socket, testCertificates.valid)
    else if (met.answers === 'with a certificate') secure(socket, met.certificate)
    else if (isTls) secure(socket, testCertificates.valid)
    else http.emit('connection', socket)
  }

  const server = createServer(connected)
  const port = await listenBelowEphemeral(server)

  return {
    port,
    /**
     * Arms the proxy. The harm begins with the first request to one of the places, after `after` unharmed requests.
     * Harm to the connections of API calls begins immediately if `after` is 0.
     */
    arm(arming: Arming) {
      armed = arming
      harmed = new Map()
      passed = new Map()
      if (
        arming.harm.level === 'connection' &&
        arming.places.includes('api') &&
        arming.after === 0
      ) {
        harmed.set('api', 1)
        begin(arming.harm)
      }
    },
    /** Whether a request or connection was harmed. */
    hasHarmed: () => harmed.size > 0,
    /** Stops the harm and closes every connection. */
    async disarm() {
      armed = undefined
      await lift()
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.dispose]() {
      clearTimeout(lifting)
      server.close()
      http.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Options = { isTls: boolean; registryPort: () => number }

/**
 * Listens on a port below the ephemeral range. While a fault keeps the port closed, the system therefore cannot assign
 * it to another connection as its source port.
 */
async function listenBelowEphemeral(server: ReturnType<typeof createServer>): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    try {
      await listenOn(server, port)
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}

async function listenOn(server: ReturnType<typeof createServer>, port: number) {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}
