import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { TestRegistry } from './test-registry.ts'

/**
 * Sends a request with this `Accept-Encoding`, which `fetch` would replace. In the result, `length` is the size of the
 * body as sent, in bytes, and `text` is the decompressed body.
 */
export async function encodedRequest(
  registry: Pick<TestRegistry, 'port'>,
  path: string,
  acceptEncoding: string,
  { method = 'GET', ...headers }: Record<string, string> = {},
) {
  const { host, port, pathname, search } = new URL(path, `http://localhost:${registry.port}`)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = { host, 'accept-encoding': acceptEncoding, ...headers }
  request({ host: '127.0.0.1', port, path: pathname + search, method, headers: sent }, resolve)
    .on('error', reject)
    .end()
  const response = await promise
  const body = await buffer(response)
  const encoding = response.headers['content-encoding']
  return {
    status: response.statusCode,
    headers: response.headers,
    length: body.length,
    text: (body.length === 0 ? body : decode(body, encoding)).toString(),
  }
}

function decode(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body)
  return encoding === 'gzip' ? gunzipSync(body) : body
}
