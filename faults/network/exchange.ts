/** One request to the fault proxy, and the ways to respond to it. */
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
  request as send,
} from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { findPlace } from './places.ts'

/** A complete response, which can be changed before it is sent. */
export type Answer = { status: number; headers: Record<string, string>; body: Buffer }

/** How the request to the registry differs from the client's request. */
type Changes = Partial<Pick<RequestOptions, 'method' | 'path' | 'headers'>>

export type Exchange = ReturnType<typeof exchangeWith>

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export function exchangeWith(
  request: IncomingMessage,
  response: ServerResponse,
  { registryPort, joinsSwarm = false }: { registryPort: number; joinsSwarm?: boolean },
) {
  const { method = 'GET', url = '/' } = request
  const path = url.startsWith('/') ? url : withoutOrigin(url)
  request.url = path
  const socket = request.socket as Socket

  function open(changes: Changes = {}) {
    const headers = { ...request.headers }
    delete headers['proxy-connection']
    const asked = { host: '127.0.0.1', port: registryPort, method, path, headers, agent }
    return send({ ...asked, ...changes })
  }

  function begin({ status, headers, body }: Answer) {
    const { connection: _, 'transfer-encoding': __, ...others } = headers
    response.writeHead(status, { 'content-length': String(body.length), ...others })
  }

  function finish(bytes?: Uint8Array) {
    if (bytes) socket.end(bytes)
    else socket.end()
    request.resume() // an unread body would delay the FIN
  }

  return {
    request,
    path,
    socket,
    place: findPlace(request, joinsSwarm),

    /** Forwards the request and its response unchanged, and waits for `pause` after each part of the body. */
    async pass(pause?: () => Promise<void>) {
      const outgoing = open()
      const answered = answerTo(outgoing)
      response.on('close', () => outgoing.destroy())
      request.on('error', () => outgoing.destroy())
      request.pipe(outgoing)
      const incoming = await answered
      response.writeHead(incoming.statusCode ?? 502, incoming.rawHeaders)
      if (pause) await pipeline(incoming, withPauses(pause), response)
      else await pipeline(incoming, response)
    },

    /** Requests the complete response from the registry, without forwarding the response to the client. */
    async ask(changes: Changes = {}): Promise<Answer> {
      const body = await buffer(request)
      const outgoing = open(changes)
      const answered = answerTo(outgoing)
      const onClose = () => outgoing.destroy()
      response.once('close', onClose)
      outgoing.end(changes.method === undefined ? body : undefined)
      const incoming = await answered
      const headers = incoming.headers as Record<string, string>
      const bytes = await buffer(incoming)
      response.off('close', onClose)
      return { status: incoming.statusCode ?? 0, headers, body: bytes }
    },

    /** Sends a response. Its Content-Length is the one in `headers` or, if there is none, the length of the body. */
    give(answer: Answer) {
      request.resume()
      begin(answer)
      response.end(answer.body)
    },

    /** Sends the head of a response. The body follows in parts. */
    begin,

    /** Sends a part of the body, or ends the body if `bytes` is undefined. */
    goOn(bytes?: Uint8Array) {
      if (bytes) response.write(bytes)
      else response.end()
    },

    /** Writes raw bytes and closes the connection. */
    finish,

    /** Writes raw bytes and keeps the connection open. */
    write: (bytes: Uint8Array) => void socket.write(bytes),

    /** Resets the connection (RST). */
    reset() {
      if ('encrypted' in socket) socket.destroy()
      else socket.resetAndDestroy()
    },

    drop: () => void socket.destroy(),
  }
}

const withPauses = (pause: () => Promise<void>) =>
  async function* (body: AsyncIterable<Buffer>) {
    for await (const part of body) {
      yield part
      await pause()
    }
  }

function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
  })
}

/** Returns the path and query of a URL. A forward proxy receives complete URLs. */
function withoutOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Encodes the head of a response. */
export function encodeHead({ status, headers }: Pick<Answer, 'status' | 'headers'>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} Harmed\r\n${lines.join('')}\r\n`, 'latin1')
}
