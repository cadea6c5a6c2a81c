/** The harms: what the fault proxy does to requests, connections and responses to simulate a fault. */
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Answer, type Exchange, encodeHead } from './exchange.ts'
import type { ConnectHarm, ConnectionHarm, ConnectionMode, RequestHarm } from './fault-proxy.ts'

const onRequest = (work: RequestHarm['do']): RequestHarm => ({ level: 'request', do: work })

/** Changes the registry's response before it is sent to the client. */
const onAnswer = (change: (answer: Answer, exchange: Exchange) => Answer | Promise<Answer>) =>
  onRequest(async (exchange) => exchange.give(await change(await exchange.ask(), exchange)))

/** Writes raw bytes as the response and closes the connection. */
const onWire = (write: (answer: Answer, exchange: Exchange) => Uint8Array) =>
  onRequest(async (exchange) => exchange.finish(write(await exchange.ask(), exchange)))

const withLength = ({ status, headers }: Answer, length: number) => {
  const { 'transfer-encoding': _, ...others } = headers
  return encodeHead({ status, headers: { ...others, 'content-length': String(length) } })
}

/**
 * Returns half of a body, or nothing if the body may be the rest of a chunk (less than 4 MiB). Otherwise, each retry
 * would deliver half of the missing bytes, and the chunk would soon be complete.
 */
function half({ body }: Answer, { place }: Exchange): Uint8Array {
  const isRest = place === 'chunk' && body.length < 4 * 1024 * 1024
  return body.subarray(0, isRest ? 0 : Math.ceil(body.length / 2))
}

/** Returns the head and half of the body, or half of the head if there is no body. */
function halfOnWire(answer: Answer, exchange: Exchange): Buffer {
  const head = withLength(answer, answer.body.length)
  if (answer.body.length === 0) return head.subarray(0, head.length >> 1)
  return Buffer.concat([head, half(answer, exchange)])
}

// Bytes

/** Changes the last byte of every 64 KiB, so that JSON cannot be parsed and hashes do not match. */
export const corrupt = onAnswer((answer) => {
  const body = Buffer.from(answer.body)
  for (let at = body.length - 1; at >= 0; at -= 65_536) body[at] = (body[at] ?? 0) ^ 0x15
  return { ...answer, body }
})

export const cut = onWire(halfOnWire)

export const resetInTheMiddle = onRequest(async (exchange) => {
  const answer = await exchange.ask()
  exchange.write(halfOnWire(answer, exchange))
  await sleep(50) // otherwise the reset would arrive before the bytes
  exchange.reset()
})

export const resetBeforeAnswer = onRequest((exchange) => exchange.reset())

/** Sends half of the response, and then nothing more. */
export const stalled = onRequest(async (exchange) => {
  const answer = await exchange.ask()
  exchange.write(halfOnWire(answer, exchange))
})

/** Reads the request and never responds. */
export const halfOpen = onRequest((exchange) => void exchange.request.resume())

/**
 * Sends the body in ten parts with pauses between them; each pause is much shorter than the timeout for a silent
 * connection.
 */
export const slow = onRequest(async (exchange) => {
  const answer = await exchange.ask()
  const part = Math.ceil(answer.body.length / 10)
  exchange.begin(answer)
  for (let at = 0; at < answer.body.length; at += part) {
    await sleep(100)
    exchange.goOn(answer.body.subarray(at, at + part))
  }
  exchange.goOn()
})

/** Compresses at most the first MiB of a body, because the client only checks the `content-encoding` header. */
export const gzipped = onAnswer((answer) => {
  const { status, headers, body } = answer
  if (body.length === 0) return answer
  const packed = gzipSync(body.subarray(0, 1024 * 1024), { level: 1 })
  const length = String(packed.length)
  return {
    status,
    headers: { ...headers, 'content-encoding': 'gzip', 'content-length': length },
    body: packed,
  }
})

export const longerLength = onWire((answer) =>
  Buffer.concat([withLength(answer, answer.body.length + 1000), answer.body]),
)

export const shorterLength = onWire((answer) =>
  Buffer.concat([withLength(answer, Math.floor(answer.body.length * 0.9)), answer.body]),
)

/** Responds with a different range from the one requested. */
export const anotherRange = onRequest(async (exchange) => {
  const { range } = exchange.request.headers
  if (range === undefined) return exchange.pass()
  const headers = {
    ...exchange.request.headers,
    range: range.replace(/\d+/, (first) => String(Number(first) + 1)),
  }
  exchange.give(await exchange.ask({ headers }))
})

export const wholeFile = onRequest(async (exchange) => {
  delete exchange.request.headers.range
  exchange.give(await exchange.ask())
})

// Responses from other programs

const page = (title: string) =>
  Buffer.from(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n`,
  )

const html = { 'content-type': 'text/html' }
const json = { 'content-type': 'application/json' }

/** Responds without forwarding the request to the registry. */
const instead = (status: number, headers: Record<string, string>, body: Buffer | string) =>
  onRequest((exchange) => exchange.give({ status, headers, body: Buffer.from(body) }))

export const respondWithPage = (status: number, title: string) => instead(status, html, page(title))

export const respondWithProblem = (status: number, detail: string, headers = {}) =>
  instead(status, { ...json, ...headers }, JSON.stringify({ detail }))

export const otherProgram = instead(200, json, JSON.stringify({ name: 'printer', version: '4.2' }))

// Redirects

export const redirectTo = (location: (exchange: Exchange) => string, status = 302) =>
  onRequest((exchange) =>
    exchange.give({ status, headers: { location: location(exchange) }, body: Buffer.alloc(0) }),
  )

// Outdated responses

/**
 * Sends the registry's response to another request: other bytes instead of the requested bytes, and the registry's
 * statistics instead of any other response.
 */
export const replayed = onRequest(async (exchange) => {
  const { headers } = exchange.request
  const isBytes = exchange.place === 'chunk' || exchange.place === 'web seed'
  const other = isBytes
    ? { headers: { ...headers, range: 'bytes=100-199' } }
    : { method: 'GET', path: '/v1/stats', headers: { host: headers.host ?? '' } }
  exchange.give(await exchange.ask(other))
})

/** From the second request on, sends bytes that differ from the file's. */
export function changedAfterFirst(): RequestHarm {
  let requests = 0
  return onAnswer((answer) => {
    requests += 1
    if (requests === 1) return answer
    return { ...answer, body: Buffer.from(answer.body).fill(7, answer.body.length >> 1) }
  })
}

/** Changes the text of a response, as if the registry's data had changed in the meantime. */
export const rewritten = (
  hits: NonNullable<RequestHarm['hits']>,
  change: (body: Buffer) => Buffer,
): RequestHarm => ({
  ...onAnswer((answer) => ({ ...answer, body: change(answer.body) })),
  hits,
})

/** Replaces text in a body. The body is treated as Latin-1, so that all bytes outside of the text stay the same. */
export const replacing = (pattern: RegExp, by: string) => (body: Buffer) =>
  Buffer.from(body.toString('latin1').replaceAll(pattern, by), 'latin1')

// Connections

export const connections = (mode: ConnectionMode, liftAfterMs?: number): ConnectionHarm => ({
  level: 'connection',
  mode,
  ...(liftAfterMs !== undefined && { liftAfterMs }),
})

/** Sends this response to CONNECT, as a forward proxy. */
export const toConnect = (status: string, headers: string, body = ''): ConnectHarm => ({
  level: 'connect',
  answer: `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
})
