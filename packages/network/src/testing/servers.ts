/** Real servers on loopback that are stopped at the end of a test. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { CertificateFiles } from '../../../../testing/tls-certificates/index.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export async function startServer(
  handler: Handler,
  certificate?: CertificateFiles,
  port = 0,
  tls: Pick<TlsOptions, 'maxVersion'> = {},
) {
  const server = certificate
    ? createSecureServer(
        { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key), ...tls },
        handler,
      )
    : createServer(handler)
  return { port: await listen(server, port), close: () => close(server) }
}

export const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) =>
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

/**
 * Starts a forward proxy that resolves every name to this machine. With `refusal`, the proxy responds to every request
 * with that status.
 */
export async function startProxy(refusal?: { status: number }) {
  const asked: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    if (refusal)
      return outgoing
        .writeHead(refusal.status, { 'content-type': 'text/html' })
        .end('<html>no</html>')
    const { port, pathname, search } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    const onward = request({ host: '127.0.0.1', port, path: pathname + search, method, headers })
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  proxy.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    if (refusal) return socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: 0\r\n\r\n`)
    const [, port] = (incoming.url ?? '').split(':')
    const onward = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy()) // the other side has closed
    socket.on('error', () => onward.destroy())
  })
  const port = await listen(proxy, 0)
  return { url: `http://127.0.0.1:${port}`, asked }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => close(server))
  return (server.address() as AddressInfo).port
}

async function close(server: Server) {
  if (!server.listening) return
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** Starts a server that accepts connections and never sends a byte. */
export async function startSilence() {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined) // the client has given up
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
