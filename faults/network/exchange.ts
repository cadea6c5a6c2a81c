/** One request that came to the fault proxy, with what can be done about it. */
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
import { placeOf } from './places.ts'

/** A whole answer, to be changed before it is given. */
export type Answer = { status: number; headers: Record<string, string>; body: Buffer }

/** What the registry is asked for in place of what the request says. */
type Changes = Partial<Pick<RequestOptions, 'method' | 'path' | 'headers'>>

export type Exchange = ReturnType<typeof exchangeWith>

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export function exchangeWith(
  request: IncomingMessage,
  response: ServerResponse,
  registryPort: number,
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
    request.resume() // an unread body would hold the FIN back
  }

  return {
    request,
    path,
    socket,
    place: placeOf(request),

    /** The registry is asked, and answers as if nobody stood between. */
    async pass() {
      const outgoing = open()
      const answered = answerTo(outgoing)
      response.on('close', () => outgoing.destroy())
      request.on('error', () => outgoing.destroy())
      request.pipe(outgoing)
      const incoming = await answered
      response.writeHead(incoming.statusCode ?? 502, incoming.rawHeaders)
      await pipeline(incoming, response)
    },

    /** The registry's whole answer, which nobody has seen yet. */
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

    /** An answer as it stands; the length is what `headers` says, or else what the body has. */
    give(answer: Answer) {
      request.resume()
      begin(answer)
      response.end(answer.body)
    },

    /** The head of an answer; its body comes in parts. */
    begin,

    /** A part of the body, or its end. */
    goOn(bytes?: Uint8Array) {
      if (bytes) response.write(bytes)
      else response.end()
    },

    /** Bytes on the wire, whatever they are, and the end of the connection. */
    finish,

    /** Bytes on the wire, and the connection stays open. */
    write: (bytes: Uint8Array) => void socket.write(bytes),

    /** The connection is reset (RST). */
    reset() {
      if ('encrypted' in socket) socket.destroy()
      else socket.resetAndDestroy()
    },

    drop: () => void socket.destroy(),
  }
}

function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
  })
}

/** What a forward proxy gets is a whole URL. */
function withoutOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** The head of an answer as it is on the wire. */
export function headOf({ status, headers }: Pick<Answer, 'status' | 'headers'>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} Harmed\r\n${lines.join('')}\r\n`, 'latin1')
}
