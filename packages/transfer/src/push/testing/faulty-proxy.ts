import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * How a call fails. `reset`: the connection is reset before the registry receives the call. `lost-answer`: the registry
 * handles the call, but the connection is reset before the response is sent. `502`: the proxy responds in place of the
 * registry, as if the registry were down.
 */
export type ProxyFault = 'reset' | 'lost-answer' | '502'

export type FaultyProxy = {
  /** Without a trailing slash. */
  url: string
  /** Sets the registry's port. */
  leadTo(port: number): void
  /**
   * From now on, `fault` affects the first call of each kind. Later calls are passed on unchanged. Clears `harmed` and
   * `taken`.
   */
  harmEachOnce(fault: ProxyFault): void
  /** The upload calls that the fault affected, such as `POST complete` or `PUT chunk 2`, in alphabetical order. */
  harmed(): string[]
  /**
   * The numbers of the chunks that the registry accepted, in the order of its responses, including
   * repeats.
   */
  taken(): number[]
  [Symbol.asyncDispose](): Promise<void>
}

/** A proxy between a client and a registry. It makes upload calls fail, and passes all other calls on unchanged. */
export async function openFaultyProxy(): Promise<FaultyProxy> {
  let registryPort = 0
  let fault: ProxyFault | undefined
  let harmed = new Set<string>()
  let taken: number[] = []

  const server = createServer((incoming, outgoing) => {
    const call = parseCall(incoming)
    const met = call !== undefined && !harmed.has(call) ? fault : undefined
    if (call && met) harmed.add(call)
    if (met === 'reset') return incoming.socket.resetAndDestroy()
    if (met === '502') return answer502(incoming, outgoing)
    // A browser would retry a call that fails on a kept-alive connection.
    outgoing.setHeader('connection', 'close')
    passOn(incoming, registryPort, (answered) => {
      const chunk = parseChunkNumber(incoming)
      if (chunk !== undefined && answered.statusCode === 200) taken.push(chunk)
      if (met === 'lost-answer') {
        answered.resume().once('end', () => incoming.socket.resetAndDestroy())
        return
      }
      const { connection, 'keep-alive': _, ...headers } = answered.headers
      outgoing.writeHead(answered.statusCode ?? 502, headers)
      answered.pipe(outgoing)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    leadTo(port) {
      registryPort = port
    },
    harmEachOnce(given) {
      fault = given
      harmed = new Set()
      taken = []
    },
    harmed: () => [...harmed].sort(),
    taken: () => taken,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const callPattern =
  /^\/v1\/models\/[^/]+\/(?:(uploads)|files(?:\/[^/]+(?:\/(upload|complete|chunks))?)?)$/

/** The kind of upload call; undefined for other calls. */
function parseCall(incoming: IncomingMessage): string | undefined {
  const { method, url = '' } = incoming
  const chunk = parseChunkNumber(incoming)
  if (chunk !== undefined) return `PUT chunk ${chunk}`
  const [path = ''] = url.split('?')
  const found = callPattern.exec(path)
  if (!found) return undefined
  return `${method} ${found[1] ?? found[2] ?? (path.endsWith('/files') ? 'files' : 'file')}`
}

/** The number of the chunk being sent, counted from 1. */
function parseChunkNumber({ method, url = '' }: IncomingMessage): number | undefined {
  const number = /[?&]partNumber=(\d+)/.exec(url)?.[1]
  return method === 'PUT' && number !== undefined ? Number(number) : undefined
}

function answer502(incoming: IncomingMessage, outgoing: ServerResponse) {
  const headers = { 'content-type': 'text/html', connection: 'close' }
  incoming.resume().once('end', () => outgoing.writeHead(502, headers).end('<h1>Bad Gateway</h1>'))
}

function passOn(incoming: IncomingMessage, port: number, use: (answer: IncomingMessage) => void) {
  const { method, url, headers } = incoming
  const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, use)
  passed.on('error', () => incoming.socket.destroy())
  incoming.on('error', () => passed.destroy())
  incoming.pipe(passed)
}
