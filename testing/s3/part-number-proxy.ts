import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy that adds `GET ?partNumber=` of AWS S3 to a server without it, such as radosgw 16. The server still checks
 * signatures, because it receives the signed URL unchanged, with an additional `Range` header. The proxy learns the
 * sizes of parts from the uploads that pass through it.
 */
export async function startPartNumberProxy(endpoint: string) {
  const upstream = new URL(endpoint)
  /** The sizes of the parts of open uploads by number, and of finished objects in order. */
  const uploads = new Map<string, Map<number, number>>()
  const objects = new Map<string, number[]>()

  function noteSuccess(method: string, url: URL, sizeBytes: number) {
    const uploadId = url.searchParams.get('uploadId')
    const partNumber = Number(url.searchParams.get('partNumber'))
    if (uploadId === null) {
      if (method === 'PUT' || method === 'DELETE') objects.delete(url.pathname)
      return
    }
    const parts = uploads.get(uploadId) ?? new Map<number, number>()
    uploads.set(uploadId, parts)
    if (method === 'PUT') parts.set(partNumber, sizeBytes)
    if (method !== 'POST') return
    const inOrder = [...parts].sort(([one], [other]) => one - other)
    objects.set(
      url.pathname,
      inOrder.map(([, size]) => size),
    )
    uploads.delete(uploadId)
  }

  /** The range of the requested part; undefined if the request is not for a part whose size the proxy has recorded. */
  function findRange(method: string, url: URL): string | undefined {
    const partNumber = Number(url.searchParams.get('partNumber'))
    const isRead = method === 'GET' && !url.searchParams.has('uploadId')
    const sizes = isRead ? objects.get(url.pathname) : undefined
    const size = sizes?.[partNumber - 1]
    if (!sizes || size === undefined) return undefined
    const start = sizes.slice(0, partNumber - 1).reduce((sum, one) => sum + one, 0)
    return `bytes=${start}-${start + size - 1}`
  }

  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = 'GET', url: path = '/' } = incoming
    const url = new URL(path, upstream)
    const range = findRange(method, url)
    const headers = { ...incoming.headers, ...(range && { range }) }
    const passedOn = request(new URL(upstream), { method, path, headers }, (response) => {
      const { statusCode = 502 } = response
      if (statusCode < 300) noteSuccess(method, url, Number(incoming.headers['content-length']))
      outgoing.writeHead(statusCode, response.headers)
      response.pipe(outgoing)
    })
    passedOn.on('error', (error) => outgoing.destroy(error))
    outgoing.on('close', () => passedOn.destroy())
    incoming.pipe(passedOn)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
