import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Failures } from './failures.ts'

type Call = {
  token?: string | undefined
  /** A body to send as JSON. */
  body?: unknown
  /** A body to send unchanged. */
  bytes?: Uint8Array
  headers?: Record<string, string>
}

/**
 * `refused`: no program is listening; `broken`: the connection ended before the response was complete; `late`: there
 * was no response in time.
 */
export type Reply<T = unknown> = {
  status: number | 'refused' | 'broken' | 'late'
  headers: IncomingHttpHeaders
  body: T
  bytes: Buffer
}

export type Client = ReturnType<typeof createClient>

type Options = {
  origin: () => string
  timeoutMs: number
  failures: Failures
  /** The address of an S3 store. Responses from this address are not checked. */
  store?: string | undefined
  /** Whether a load balancer may respond with its own error if a node dies. */
  isBalanced?: boolean
}

/**
 * Returns a client that calls a registry, and reports every response that must never be received, no matter which fault
 * occurs.
 */
export function createClient(options: Options) {
  const { origin, timeoutMs, failures, store, isBalanced = false } = options
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  async function call<T>(method: string, path: string, options: Call = {}): Promise<Reply<T>> {
    const reply = await send<T>(method, path, options)
    if (store && path.startsWith(store)) return reply
    if (isBalanced && isFromBalancer(reply)) return { ...reply, status: 'broken' }
    judge(`${method} ${toRoute(path)}`, reply)
    return reply
  }

  function send<T>(method: string, path: string, call: Call): Promise<Reply<T>> {
    const { token, body, bytes } = call
    const payload = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
    const headers: Record<string, string | number> = { ...call.headers }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (payload !== undefined) headers['content-length'] = Buffer.byteLength(payload)
    // A URL that was signed before a restart still contains the previous port.
    const { pathname, search } = new URL(path, origin())
    const host = store && path.startsWith(store) ? store : origin()
    const { promise, resolve } = Promise.withResolvers<Reply<T>>()
    const settle = (status: Reply['status'], answered: Partial<Reply<T>> = {}) =>
      resolve({ status, headers: {}, body: undefined as T, bytes: Buffer.alloc(0), ...answered })
    const timer = setTimeout(() => {
      settle('late')
      sent.destroy()
    }, timeoutMs)

    const sent = request(new URL(pathname + search, host), { method, agent, headers })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      settle(error.code === 'ECONNREFUSED' ? 'refused' : 'broken')
    })
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('error', () => settle('broken'))
      response.on('close', () => {
        clearTimeout(timer)
        if (!response.complete) return settle('broken')
        const all = Buffer.concat(parts)
        const isJson = response.headers['content-type']?.includes('json') && all.length > 0
        settle(response.statusCode ?? 0, {
          headers: response.headers,
          body: (isJson ? JSON.parse(all.toString()) : undefined) as T,
          bytes: all,
        })
      })
    })
    sent.end(payload)
    return promise
  }

  function judge(route: string, { status, headers, body, bytes }: Reply) {
    if (status === 'late') {
      failures.stuck(`${route} is answered within ${timeoutMs} ms`, 'no response')
    } else if (typeof status === 'number' && status >= 400) {
      const text = bytes.toString().slice(0, 200)
      if (status >= 500 && status !== 503) {
        const allowed = 'success, 4xx, 503 with Retry-After, or no connection'
        failures.wrong(`${route}: ${allowed}`, `${status} ${text}`)
      }
      if (status === 503 && !(Number(headers['retry-after']) > 0)) {
        failures.wrong(`${route}: a 503 has Retry-After`, `503 without Retry-After: ${text}`)
      }
      const hasDetail = typeof (body as { detail?: unknown } | undefined)?.detail === 'string'
      if (!hasDetail)
        failures.wrong(`${route}: an error is JSON with a detail field`, `${status} ${text}`)
    }
  }

  return {
    call,
    get: <T>(path: string, token?: string) => call<T>('GET', path, { token }),
    post: <T>(path: string, options?: Call) => call<T>('POST', path, options),
    /** Sends a request without the checks of `call`, for requests that may fail even if the registry works. */
    send,
    /** Closes idle connections. */
    hangUp: () => agent.destroy(),
  }
}

/** Whether HAProxy responded instead of a node. Unlike a node, HAProxy sends HTML. */
function isFromBalancer({ status, headers }: Reply): boolean {
  return typeof status === 'number' && status >= 502 && headers['content-type'] === 'text/html'
}

/** Whether the call succeeded. */
export function isDone({ status }: Reply): boolean {
  return typeof status === 'number' && status < 300
}

/** Whether it is uncertain that the requested change was made, because the response is missing or a server error. */
export function isUnknown({ status }: Reply): boolean {
  return status === 'broken' || status === 'late' || (typeof status === 'number' && status >= 500)
}

export function describe({ status, bytes }: Reply): string {
  return typeof status === 'number' ? `${status} ${bytes.toString().slice(0, 160)}` : status
}

/** Returns a path with placeholders for the parts that differ between calls. */
function toRoute(path: string): string {
  return new URL(path, 'http://localhost').pathname
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':id')
    .replaceAll(/[0-9a-f]{64}/g, ':hash')
    .replaceAll(/(faulty|a-long-name)-[a-z0-9-]+/g, ':name')
}
