import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type CappedProxy = AsyncDisposable & {
  url: string
  /** Sets the URL of the server to which the proxy forwards requests. */
  leadTo(url: string): void
  /** Returns the number of file bytes sent since the last call. */
  takeSentBytes(): number
}

/** Starts a proxy in front of a registry. All downloads of file bytes share a limit of `bytesPerSecond`. */
export async function startCappedProxy(bytesPerSecond: number): Promise<CappedProxy> {
  let target = ''
  let sentBytes = 0
  let busyUntil = 0
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch((error) => outgoing.destroy(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { method, url = '', headers } = incoming
    const onward = request(target + url, { method, headers })
    incoming.pipe(onward)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    const isCapped = method === 'GET' && url.startsWith('/blobs/')
    const closed = once(outgoing, 'close').then(() => answer.destroy())
    for await (const bytes of answer as AsyncIterable<Buffer>) {
      if (isCapped) await turn(bytes.length)
      if (outgoing.destroyed) return
      if (!outgoing.write(bytes)) await Promise.race([once(outgoing, 'drain'), closed])
    }
    outgoing.end()
  }

  async function turn(bytes: number) {
    sentBytes += bytes
    const now = performance.now()
    busyUntil = Math.max(busyUntil, now - 50) + (bytes / bytesPerSecond) * 1000
    if (busyUntil > now) await sleep(busyUntil - now)
  }

  return {
    url: `http://localhost:${port}`,
    leadTo(url) {
      target = url
    },
    takeSentBytes() {
      const bytes = sentBytes
      sentBytes = 0
      return bytes
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
