import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { routes } from '@shoal/protocol'
import { registryClient, type Wait } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../testing/free-port.ts'
import { openNetwork } from './dispatcher.ts'
import { httpTransport } from './http-transport.ts'
import { directNetwork } from './settings.ts'
import {
  failureAt,
  fine,
  noRetry,
  openTransport,
  reset,
  scripted,
  shortTimeouts,
  status,
} from './testing/scripted.ts'
import { type Handler, json, startServer } from './testing/servers.ts'

test('a response has its status, headers and complete body', async () => {
  const server = await scripted((_, response) => json(response, { a: 1 }, 201, { 'x-b': 'c' }))
  const answer = await openTransport()(`${server.url}/path?query=1`, { headers: { 'x-a': 'b' } })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-b')).toBe('c')
  expect(Buffer.from(answer.body).toString()).toBe('{"a":1}')
  expect(server.requests[0]).toMatchObject({ url: '/path?query=1', headers: { 'x-a': 'b' } })
})

test('a gzip response is decompressed, and a response with the wrong encoding is an error', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const server = await scripted(
    (_, response) => response.writeHead(200, headers).end(gzipSync('{"a":1}')),
    (_, response) => response.writeHead(200, headers).end('{"a":1}'),
    (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('{"a":1}'),
  )
  const send = openTransport()
  expect(Buffer.from((await send(server.url)).body).toString()).toBe('{"a":1}')
  const wrong = { code: 'not_a_registry', reason: 'not_json', host: server.host }
  expect(await failureAt(server.url)).toEqual(wrong)
  expect(await failureAt(server.url)).toEqual(wrong)
})

test.each<[string, Handler]>([
  ['resets the connection', reset],
  ['hangs up', ({ socket }) => socket.end()],
  [
    'cuts off its response',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"is":')
      response.socket?.end()
    },
  ],
  ['returns 502', status(502)],
  ['returns 503', status(503)],
  ['returns 504', status(504)],
  ['returns 500', status(500)],
])('a request to a registry that %s is retried, and each wait is reported', async (_, wrong) => {
  const server = await scripted(wrong, wrong, fine)
  const waits: Wait[] = []
  const retry = { firstContactMs: 10_000, giveUpMs: 10_000 }
  const answer = await openTransport()(server.url, { retry, onWait: (wait) => waits.push(wait) })
  expect(answer.status).toBe(200)
  expect(server.requests).toHaveLength(3)
  expect(waits).toHaveLength(2)
  expect(waits[0]?.reason).toMatch(/\w/)
})

test('a request that is not safe to repeat is sent once', async () => {
  for (const wrong of [reset, status(502)]) {
    const server = await scripted(wrong, fine)
    const call = { method: 'POST', body: '{}' }
    const result = await openTransport()(server.url, call).catch((error) => error.failure)
    expect(result).toMatchObject(
      wrong === reset ? { code: 'unreachable', reason: 'reset' } : { status: 502 },
    )
    expect(server.requests).toHaveLength(1)
  }
})

test('retries are at most two seconds apart, so that a registry that is back online is noticed soon', async () => {
  const server = await scripted(fine)
  const send = openTransport()
  const retry = { firstContactMs: 60_000, giveUpMs: 60_000 }
  await send(server.url)
  await server.close()
  // The registry stays unavailable until the delay between attempts has reached its maximum.
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

test('aborting the signal ends the wait between retries', async () => {
  const port = await freePort()
  const stop = new AbortController()
  const retry = { firstContactMs: 60_000, giveUpMs: 60_000 }
  const onWait = () => stop.abort(new Error('enough'))
  const call = { retry, onWait, signal: stop.signal }
  await expect(openTransport()(`http://127.0.0.1:${port}`, call)).rejects.toThrow('enough')
})

test('Retry-After is honored for any method, unless it is too long or the storage is full', async () => {
  const retry = { firstContactMs: 0, giveUpMs: 10_000 }
  const call = { retry, method: 'POST', body: '{}' }
  const busy = await scripted(status(503, { 'retry-after': '1' }), fine)
  const startedAt = performance.now()
  expect(await openTransport()(busy.url, call)).toMatchObject({ status: 200 })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
  const long = await scripted(status(429, { 'retry-after': '3600' }), fine)
  expect(await openTransport()(long.url, call)).toMatchObject({ status: 429 })
  const full = await scripted((_, response) =>
    json(response, { detail: 'full', code: 'storage_full' }, 503, { 'retry-after': '1' }),
  )
  expect(await openTransport()(full.url, call)).toMatchObject({ status: 503 })
  expect(full.requests).toHaveLength(1)
})

test('a closed port, an unknown name and a missing or partial response are reported with their cause', async () => {
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
  expect(await failureAt(silent.url, { timeouts: shortTimeouts })).toEqual(timeout)
  const stalled = await scripted((_, response) => response.writeHead(200).write('{'))
  const stall = { ...timeout, host: stalled.host }
  expect(await failureAt(stalled.url, { timeouts: shortTimeouts })).toEqual(stall)
})

test.each([
  ['POST', '0', 503],
  ['POST', new Date(Date.now() + 1500).toUTCString(), 503],
  ['GET', '1', 502],
])('%s is retried after a Retry-After of %s with status %i', async (method, retryAfter, code) => {
  const server = await scripted(status(code, { 'retry-after': retryAfter }), fine)
  const retry = { firstContactMs: 10_000, giveUpMs: 10_000 }
  const answer = await openTransport()(server.url, { retry, method })
  expect(answer).toMatchObject({ status: 200 })
})

test('web pages and other programs are distinguished from a registry for every kind of request', async () => {
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

test('a keep-alive connection closed by the server is replaced without an error', async () => {
  const server = await scripted((_, response) => {
    json(response, {})
    response.socket?.once('close', () => undefined)
  })
  const send = openTransport()
  await send(server.url)
  const socket = server.requests[0]?.socket
  socket?.end()
  if (socket && !socket.destroyed) await once(socket, 'close')
  expect(await send(server.url)).toMatchObject({ status: 200 })
})

test.each<[string, Handler]>([
  ['an empty response', (_, response) => response.writeHead(200).end()],
  ['204', (_, response) => response.writeHead(204).end()],
  ['304', (_, response) => response.writeHead(304).end()],
  ['a redirect without a location', (_, response) => response.writeHead(302).end()],
  ['a list of other items', (_, response) => json(response, [1, { object: 'model' }])],
])('%s instead of a list of models is attributed to another program', async (_, answer) => {
  const server = await scripted(answer)
  const failure = await failureAt(
    `${server.url}/v1/models`,
    {},
    { ...noRetry, route: routes.listModels, headers: { accept: 'application/json' } },
  )
  expect(failure).toEqual({ code: 'not_a_registry', reason: 'other_program', host: server.host })
})

test('a server that does not speak HTTP is reported with its cause', async () => {
  const server = await scripted(({ socket }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  const failure = await failureAt(server.url)
  expect(failure).toEqual({ code: 'not_a_registry', reason: 'not_http', host: server.host })
})

test('a host without a route is reported with its cause', async () => {
  // The system refuses to open a TCP connection to a multicast address; nothing is sent.
  const failure = await failureAt('http://224.0.0.1:8000')
  expect(failure).toEqual({ code: 'unreachable', reason: 'no_route', host: '224.0.0.1:8000' })
})
