import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import {
  type ApiRequest,
  NetworkError,
  type NetworkFailure,
  registryClient,
  type Wait,
} from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { testAuthority, testCertificates } from '../../../testing/tls-certificates/index.ts'
import { openNetwork } from './dispatcher.ts'
import { failureOfAnswer } from './failure-of.ts'
import { httpTransport } from './http-transport.ts'
import { sendRequest } from './send-request.ts'
import { directNetwork, type NetworkSettings } from './settings.ts'
import {
  freePort,
  type Handler,
  json,
  startProxy,
  startServer,
  startSilence,
} from './testing/servers.ts'

const trusting = { extraCa: readFileSync(testAuthority, 'utf8') }
const impatient = { connectMs: 2_000, headersMs: 300, stallMs: 300, giveUpMs: 3_000 }

function transportOf(settings: Partial<NetworkSettings> = {}) {
  const network = openNetwork({ ...directNetwork, ...settings })
  onTestFinished(() => network.destroy())
  const transport = httpTransport(network)
  return (url: string, changes: Partial<ApiRequest> = {}) =>
    transport({ method: 'GET', url, headers: {}, ...changes })
}

const noRetry = { retry: { firstContactMs: 0, giveUpMs: 0 } }

async function failureAt(
  url: string,
  settings: Partial<NetworkSettings> = {},
  changes: Partial<ApiRequest> = noRetry,
): Promise<Omit<NetworkFailure, 'detail'>> {
  const error = await transportOf(settings)(url, changes).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(NetworkError)
  const { detail, ...failure } = error.failure
  expect(detail).toMatch(/\w/)
  return failure
}

/** A server that answers one request after another as it is told, the last way from then on. */
async function scripted(...handlers: Handler[]) {
  const requests: IncomingMessage[] = []
  const server = await startServer((request, response) => {
    requests.push(request)
    const handle = handlers.length > 1 ? handlers.shift() : handlers[0]
    handle?.(request, response)
  })
  const host = `127.0.0.1:${server.port}`
  return { ...server, url: `http://${host}`, host, requests }
}

const fine: Handler = (_, response) => json(response, { is: 'fine' })
const status =
  (code: number, headers = {}): Handler =>
  (_, response) =>
    json(response, { detail: 'no' }, code, headers)
const reset: Handler = ({ socket }) => socket.resetAndDestroy()

test('an answer comes with its status, headers and whole body', async () => {
  const server = await scripted((_, response) => json(response, { a: 1 }, 201, { 'x-b': 'c' }))
  const answer = await transportOf()(`${server.url}/path?query=1`, { headers: { 'x-a': 'b' } })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-b')).toBe('c')
  expect(Buffer.from(answer.body).toString()).toBe('{"a":1}')
  expect(server.requests[0]).toMatchObject({ url: '/path?query=1', headers: { 'x-a': 'b' } })
})

test('a compressed answer is read, and one that lies about it is not', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const server = await scripted(
    (_, response) => response.writeHead(200, headers).end(gzipSync('{"a":1}')),
    (_, response) => response.writeHead(200, headers).end('{"a":1}'),
    (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('{"a":1}'),
  )
  const send = transportOf()
  expect(Buffer.from((await send(server.url)).body).toString()).toBe('{"a":1}')
  const wrong = { code: 'not_a_registry', reason: 'not_json', host: server.host }
  expect(await failureAt(server.url)).toEqual(wrong)
  expect(await failureAt(server.url)).toEqual(wrong)
})

test.each<[string, Handler]>([
  ['resets the connection', reset],
  ['hangs up', ({ socket }) => socket.end()],
  [
    'ends in the middle of its answer',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"is":')
      response.socket?.end()
    },
  ],
  ['answers 502', status(502)],
  ['answers 503', status(503)],
  ['answers 504', status(504)],
  ['answers 500', status(500)],
])('a registry that %s is asked again, and whoever waits is told', async (_, wrong) => {
  const server = await scripted(wrong, wrong, fine)
  const waits: Wait[] = []
  const retry = { firstContactMs: 10_000, giveUpMs: 10_000 }
  const answer = await transportOf()(server.url, { retry, onWait: (wait) => waits.push(wait) })
  expect(answer.status).toBe(200)
  expect(server.requests).toHaveLength(3)
  expect(waits).toHaveLength(2)
  expect(waits[0]?.reason).toMatch(/\w/)
})

test('what must not be done twice is sent once', async () => {
  for (const wrong of [reset, status(502)]) {
    const server = await scripted(wrong, fine)
    const call = { method: 'POST', body: '{}' }
    const result = await transportOf()(server.url, call).catch((error) => error.failure)
    expect(result).toMatchObject(
      wrong === reset ? { code: 'unreachable', reason: 'reset' } : { status: 502 },
    )
    expect(server.requests).toHaveLength(1)
  }
})

test('a registry that comes back is noticed within three seconds', async () => {
  const server = await scripted(fine)
  const send = transportOf()
  const retry = { firstContactMs: 60_000, giveUpMs: 60_000 }
  await send(server.url)
  await server.close()
  // Down until the waits have grown to their longest.
  let longest = 0
  let isBack = false
  const onWait = async ({ seconds }: Wait) => {
    const isLongest = longest > 0.9 && seconds <= longest
    longest = Math.max(longest, seconds)
    if (isBack || !isLongest) return
    isBack = true
    await startServer(fine, undefined, server.port)
  }
  expect(await send(server.url, { retry, onWait })).toMatchObject({ status: 200 })
  expect(longest).toBeLessThanOrEqual(2)
})

test('a wait ends with the signal', async () => {
  const port = await freePort()
  const stop = new AbortController()
  const retry = { firstContactMs: 60_000, giveUpMs: 60_000 }
  const onWait = () => stop.abort(new Error('enough'))
  const call = { retry, onWait, signal: stop.signal }
  await expect(transportOf()(`http://127.0.0.1:${port}`, call)).rejects.toThrow('enough')
})

test('a wait that the registry asks for is kept, whatever is to be done, unless it is too long or does not help', async () => {
  const retry = { firstContactMs: 0, giveUpMs: 10_000 }
  const call = { retry, method: 'POST', body: '{}' }
  const busy = await scripted(status(503, { 'retry-after': '1' }), fine)
  const startedAt = performance.now()
  expect(await transportOf()(busy.url, call)).toMatchObject({ status: 200 })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
  const long = await scripted(status(429, { 'retry-after': '3600' }), fine)
  expect(await transportOf()(long.url, call)).toMatchObject({ status: 429 })
  const full = await scripted((_, response) =>
    json(response, { detail: 'full', code: 'storage_full' }, 503, { 'retry-after': '1' }),
  )
  expect(await transportOf()(full.url, call)).toMatchObject({ status: 503 })
  expect(full.requests).toHaveLength(1)
})

test('nobody there, no such name, silence, and half an answer are told apart', async () => {
  const port = await freePort()
  expect(await failureAt(`http://127.0.0.1:${port}`)).toEqual({
    code: 'unreachable',
    reason: 'refused',
    host: `127.0.0.1:${port}`,
  })
  expect(await failureAt('http://nobody.invalid:8000')).toEqual({
    code: 'unreachable',
    reason: 'dns',
    host: 'nobody.invalid:8000',
  })
  const silent = await scripted(() => undefined)
  const timeout = { code: 'unreachable', reason: 'timeout', host: silent.host }
  expect(await failureAt(silent.url, { timeouts: impatient })).toEqual(timeout)
  const stalled = await scripted((_, response) => response.writeHead(200).write('{'))
  const stall = { ...timeout, host: stalled.host }
  expect(await failureAt(stalled.url, { timeouts: impatient })).toEqual(stall)
})

test.each([
  ['self_signed', testCertificates.selfSigned],
  ['unknown_issuer', testCertificates.valid],
] as const)('a certificate that is %s is refused with that reason', async (reason, certificate) => {
  const { port } = await startServer(fine, certificate)
  const host = `localhost:${port}`
  expect(await failureAt(`https://${host}`)).toEqual({ code: 'tls_failed', reason, host })
})

test.each([
  ['expired', testCertificates.expired],
  ['not_yet_valid', testCertificates.notYetValid],
  ['wrong_name', testCertificates.wrongName],
  ['self_signed', testCertificates.selfSigned],
] as const)('%s is refused from a known authority too', async (reason, certificate) => {
  const { port } = await startServer(fine, certificate)
  const host = `localhost:${port}`
  expect(await failureAt(`https://${host}`, trusting)).toEqual({ code: 'tls_failed', reason, host })
})

test('a private authority is trusted where it is named', async () => {
  const { port } = await startServer(fine, testCertificates.valid)
  expect(await transportOf(trusting)(`https://localhost:${port}`)).toMatchObject({ status: 200 })
})

test('http and https at each other’s port are told', async () => {
  const plain = await startServer(fine)
  const host = `localhost:${plain.port}`
  expect(await failureAt(`https://${host}`)).toEqual({
    code: 'tls_failed',
    reason: 'not_tls',
    host,
  })
  const secure = await startServer(fine, testCertificates.valid)
  const error = await failureAt(`http://localhost:${secure.port}`)
  // OpenSSL closes the connection, or answers an alert, which is no HTTP.
  expect([`unreachable reset`, `not_a_registry not_http`]).toContain(
    `${error.code} ${error.reason}`,
  )
})

const redirect =
  (location: string, code = 302): Handler =>
  (_, response) =>
    response.writeHead(code, { location }).end()

test('a redirect at the same host and port is followed', async () => {
  const server = await scripted(redirect('/there', 301), fine)
  expect(await transportOf()(server.url)).toMatchObject({ status: 200 })
  expect(server.requests[1]?.url).toBe('/there')
})

test('from http to https at the same host it is followed by whoever shows no credentials', async () => {
  const secure = await startServer(fine, testCertificates.valid)
  const plain = await startServer(redirect(`https://localhost:${secure.port}/`))
  const url = `http://localhost:${plain.port}`
  expect(await transportOf(trusting)(url)).toMatchObject({ status: 200 })
  const signedIn = { ...noRetry, headers: { authorization: 'Bearer secret' } }
  expect(await failureAt(url, trusting, signedIn)).toMatchObject({
    code: 'redirect_refused',
    reason: 'moved',
  })
})

test.each<[string, string]>([
  ['other_host', 'http://elsewhere.invalid/'],
  ['other_host', 'file:///etc/passwd'],
  ['other_host', 'http://127.0.0.1:1/'],
  ['loop', '/'],
])('a redirect is refused as %s: %s', async (reason, location) => {
  const server = await scripted(redirect(location))
  const { host } = server
  expect(await failureAt(server.url)).toEqual({ code: 'redirect_refused', reason, host })
  expect(server.requests.length).toBeLessThan(8)
})

test('a redirect from https to http is never followed', async () => {
  const plain = await scripted(fine)
  const secure = await startServer(
    redirect(`http://localhost:${plain.port}/`),
    testCertificates.valid,
  )
  const host = `localhost:${secure.port}`
  expect(await failureAt(`https://${host}`, trusting)).toEqual({
    code: 'redirect_refused',
    reason: 'insecure',
    host,
  })
  expect(plain.requests).toEqual([])
})

test('what is to be done goes on by 307 and 308, and is not made a GET by 301', async () => {
  const call = { ...noRetry, method: 'POST', body: '{}' }
  const same = await scripted(redirect('/there', 308), fine)
  expect(await transportOf()(same.url, call)).toMatchObject({ status: 200 })
  expect(same.requests[1]?.method).toBe('POST')
  const moved = await scripted(redirect('/there', 301), fine)
  expect(await failureAt(moved.url, {}, call)).toMatchObject({ reason: 'moved' })
  expect(moved.requests).toHaveLength(1)
})

test('plain HTTP is asked of the proxy, and HTTPS goes through it', async () => {
  const plain = await scripted(fine)
  const secure = await startServer(fine, testCertificates.valid)
  const proxy = await startProxy()
  const settings = { ...trusting, httpProxy: proxy.url, httpsProxy: proxy.url }
  const send = transportOf(settings)
  expect(await send(`http://registry.test:${plain.port}/a`)).toMatchObject({ status: 200 })
  expect(await send(`https://registry.test:${secure.port}/b`)).toMatchObject({ status: 200 })
  expect(proxy.asked).toEqual([
    `GET http://registry.test:${plain.port}/a`,
    `CONNECT registry.test:${secure.port}`,
  ])
  expect(await send(plain.url)).toMatchObject({ status: 200 })
  expect(proxy.asked).toHaveLength(2)
})

test('behind a proxy the registry’s certificate is checked all the same', async () => {
  const { port } = await startServer(fine, testCertificates.wrongName)
  const proxy = await startProxy()
  const url = `https://registry.test:${port}`
  expect(await failureAt(url, { ...trusting, httpsProxy: proxy.url })).toMatchObject({
    code: 'tls_failed',
    reason: 'wrong_name',
  })
})

test.each([
  [407, 'auth'],
  [403, 'denied'],
  [502, 'answered'],
])('a proxy that answers %i is told from a registry', async (code, reason) => {
  const proxy = await startProxy({ status: code })
  const { host } = new URL(proxy.url)
  for (const url of ['http://registry.test', 'https://registry.test']) {
    const settings = { httpProxy: proxy.url, httpsProxy: proxy.url }
    expect(await failureAt(url, settings)).toEqual({ code: 'proxy_failed', reason, host })
  }
})

test('what the other side answers through a proxy is not taken for the proxy’s', async () => {
  const xml: Handler = (_, response) =>
    response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error/>')
  const plain = await startServer(xml)
  const secure = await startServer(xml, testCertificates.valid)
  const proxy = await startProxy()
  const network = openNetwork({
    ...directNetwork,
    ...trusting,
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
  })
  onTestFinished(() => network.destroy())
  for (const address of [
    `http://registry.test:${plain.port}/`,
    `https://registry.test:${secure.port}/`,
  ]) {
    const url = new URL(address)
    const { statusCode, headers } = await sendRequest(network, url, { method: 'GET' })
    const type = headers['content-type']?.toString()
    const asked = { url, proxy: network.proxyOf(url) }
    expect(failureOfAnswer(asked, statusCode, type)).toBeUndefined()
  }
})

test('a proxy that is silent costs no more than the time that is allowed', async () => {
  const silent = await startSilence()
  const proxy = `http://127.0.0.1:${silent.port}`
  const settings = { httpProxy: proxy, httpsProxy: proxy, timeouts: impatient }
  for (const url of ['http://registry.test', 'https://registry.test']) {
    expect(await failureAt(url, settings)).toMatchObject({ reason: 'timeout' })
  }
})

test.each([
  ['0', 503],
  [new Date(Date.now() + 1500).toUTCString(), 503],
  ['1', 502],
])('a Retry-After of %s with %i ends no retries', async (retryAfter, code) => {
  const server = await scripted(status(code, { 'retry-after': retryAfter }), fine)
  const retry = { firstContactMs: 10_000, giveUpMs: 10_000 }
  expect(await transportOf()(server.url, { retry })).toMatchObject({ status: 200 })
})

test('a proxy that is not there is told from a registry', async () => {
  const dead = `http://127.0.0.1:${await freePort()}`
  const lost = 'http://nobody.invalid:3128'
  for (const url of ['http://registry.test', 'https://registry.test']) {
    expect(await failureAt(url, { httpProxy: dead, httpsProxy: dead })).toEqual({
      code: 'proxy_failed',
      reason: 'refused',
      host: new URL(dead).host,
    })
    expect(await failureAt(url, { httpProxy: lost, httpsProxy: lost })).toMatchObject({
      code: 'proxy_failed',
      reason: 'dns',
    })
  }
})

test('through the client: web pages and other programs are no registry', async () => {
  const page: Handler = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the WLAN</html>')
  const portal = await scripted(page)
  const other = await scripted((_, response) => json(response, { object: 'list', data: [] }))
  const lost = await scripted((_, response) => response.writeHead(404).end('not found'))
  for (const [server, reason] of [
    [portal, 'html'],
    [other, 'other_program'],
    [lost, 'other_program'],
  ] as const) {
    const network = openNetwork(directNetwork)
    onTestFinished(() => network.destroy())
    const client = registryClient({ baseUrl: server.url, transport: httpTransport(network) })
    for (const call of [
      () => client.listModels(),
      () => client.getModel('tide'),
      () => client.listFiles('tide'),
      () => client.getDownload('tide', 'x'),
      () => client.getMe(),
    ]) {
      const error = await call().catch((thrown) => thrown)
      expect(error.failure).toMatchObject({ code: 'not_a_registry', reason, host: server.host })
    }
  }
})

test('credentials are not sent on to where a redirect leads', async () => {
  const first = await scripted(redirect('/there', 307), fine)
  await transportOf()(first.url, { headers: { authorization: 'Bearer secret' } })
  expect(first.requests[1]?.headers.authorization).toBe('Bearer secret')
  const elsewhere = await scripted(fine)
  const away = await scripted(redirect(`${elsewhere.url}/`))
  await failureAt(away.url, {}, { ...noRetry, headers: { authorization: 'Bearer secret' } })
  expect(elsewhere.requests).toEqual([])
})

test('a connection that was kept and has been closed meanwhile costs no call', async () => {
  const server = await scripted((_, response) => {
    json(response, {})
    response.socket?.once('close', () => undefined)
  })
  const send = transportOf()
  await send(server.url)
  const socket = server.requests[0]?.socket
  socket?.end()
  if (socket && !socket.destroyed) await once(socket, 'close')
  expect(await send(server.url)).toMatchObject({ status: 200 })
})
