import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

export type ProxiedRequest = {
  method: string
  /** The path as it was sent, with the query. */
  path: string
  headers: IncomingHttpHeaders
}

/** An error response sent by the proxy itself, in the format of S3. */
export type Refusal = { status: number; code: string; headers?: Record<string, string> }

type Options = {
  /** Returns the request to send to the server instead, or an error response for the client. */
  change?: (request: ProxiedRequest) => ProxiedRequest | Refusal
  /** Called after the server has accepted a request. */
  onSuccess?: (request: ProxiedRequest) => void
}

/** Starts a proxy in front of an S3 server. The proxy can change or refuse requests, and stall responses. */
export async function startS3Proxy(endpoint: string, options: Options = {}) {
  const upstream = new URL(endpoint)
  let { change = (one: ProxiedRequest): ProxiedRequest | Refusal => one } = options
  let maxBytes = Number.POSITIVE_INFINITY
  let stalled = 0
  let open = 0

  /** Passes on the bytes of a response up to the point at which the response stalls. */
  async function* pass(response: AsyncIterable<Buffer>, outgoing: ServerResponse) {
    let passedBytes = 0
    for await (const part of response) {
      const passed = part.subarray(0, Math.max(0, maxBytes - passedBytes))
      passedBytes += passed.length
      if (passed.length > 0) yield passed
      if (passed.length === part.length) continue
      stalled += 1
      await once(outgoing, 'close')
      return
    }
  }

  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = 'GET', url: path = '/', headers } = incoming
    open += 1
    outgoing.once('close', () => {
      open -= 1
    })
    const changed = change({ method, path, headers })
    if ('status' in changed) {
      outgoing.writeHead(changed.status, changed.headers)
      outgoing.end(`<Error><Code>${changed.code}</Code><Message>refused</Message></Error>`)
      incoming.resume()
      return
    }
    const passedOn = request(upstream, changed, (response) => {
      const { statusCode = 502 } = response
      if (statusCode < 300) options.onSuccess?.({ method, path, headers })
      outgoing.writeHead(statusCode, response.headers).flushHeaders()
      pipeline(
        response,
        (source) => pass(source, outgoing),
        outgoing,
        () => undefined,
      )
    })
    passedOn.on('error', (error) => outgoing.destroy(error))
    outgoing.on('close', () => passedOn.destroy())
    incoming.pipe(passedOn)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** The number of requests whose responses have not ended. */
    countOpen: () => open,
    /** The number of responses that have stalled so far. */
    countStalled: () => stalled,
    /** From now on, each response stalls after this many bytes of its body. */
    stallAfter(bytes: number) {
      maxBytes = bytes
    },
    change(other: typeof change) {
      change = other
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the query of a proxied request. */
export const queryOf = ({ path }: ProxiedRequest) => new URL(path, 'http://proxy').searchParams

/** Starts a proxy that refuses presigned URLs that require one of these headers, as some S3 servers do. */
export const startProxyWithoutHeaders = (endpoint: string, headers: string[]) =>
  startS3Proxy(endpoint, {
    change(request) {
      const required = queryOf(request).get('X-Amz-SignedHeaders')?.split(';') ?? []
      const isRefused = headers.some((header) => required.includes(header))
      return isRefused ? { status: 400, code: 'InvalidRequest' } : request
    },
  })
