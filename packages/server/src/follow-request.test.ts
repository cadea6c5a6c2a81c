import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { serverOfTest } from './testing/server-of-test.ts'

test("a request is logged on one line, with the server's own fields but without the query and tokens", async () => {
  const { url, requestLines } = await serverOfTest((app) => {
    app.get('/files/:token', async () => 'found')
  })
  const secret = 'x'.repeat(65)
  await fetch(`${url}/files/token?signature=s&extra=4`, { headers: { 'x-request-id': 'call-7' } })
  await fetch(`${url}/nothing/${secret}`)
  const lines = await requestLines(2)
  expect(lines[0]).toEqual({
    level: 'info',
    msg: 'request',
    reqId: 'call-7',
    method: 'GET',
    path: '/files/***',
    status: 200,
    ms: expect.any(Number),
    extra: '4',
  })
  expect(lines[1]).toMatchObject({ path: '/nothing/***', status: 404 })
})

test('requests to a quiet route are logged at level debug', async () => {
  const { url, requestLines } = await serverOfTest((app) => {
    app.get('/healthz', { config: { isQuiet: true } }, async () => 'ok')
  })
  await fetch(`${url}/healthz`)
  expect(await requestLines(1)).toMatchObject([{ level: 'debug', path: '/healthz', status: 200 }])
})

test("a response contains the request ID: the client's if it is valid, otherwise a new one", async () => {
  const { url } = await serverOfTest((app) => {
    app.get('/', async () => 'found')
  })
  const idFor = async (id: string, path = '/') =>
    (await fetch(url + path, { headers: { 'x-request-id': id } })).headers.get('x-request-id')
  expect(await idFor('a.Proxy_1-2')).toBe('a.Proxy_1-2')
  expect(await idFor('call-8', '/nothing')).toBe('call-8')
  for (const odd of ['a b', 'x'.repeat(65), '"']) {
    expect(await idFor(odd)).toMatch(/^[0-9a-f-]{36}$/)
  }
})

test('the request ID is also sent and logged if the request reaches no route', async () => {
  const { port, requestLines } = await serverOfTest(() => undefined)
  const ask = async (head: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`${head}\r\nHost: x\r\nX-Request-Id: call-9\r\nConnection: close\r\n\r\n`)
    return await text(socket)
  }
  expect(await ask('GET /%zz HTTP/1.1')).toMatch(/^HTTP\/1.1 400 .*x-request-id: call-9/s)
  expect(await requestLines(1)).toMatchObject([{ reqId: 'call-9', path: '/%zz', status: 400 }])
  const unexpected = await ask('GET / HTTP/1.1\r\nExpect: a-miracle')
  expect(unexpected).toMatch(/^HTTP\/1.1 417 /)
  expect(unexpected).toContain('x-request-id: call-9')
  expect(unexpected).toContain('cache-control: no-store')
})

test('if the client disconnects, the request is logged and counted as 499, even after the response has begun', async () => {
  const arrived = Promise.withResolvers<void>()
  const { url, requestLines, metrics } = await serverOfTest((app) => {
    app.get('/waiting', () => {
      arrived.resolve()
      return new Promise(() => undefined)
    })
    app.get('/begun', (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200).write('some')
    })
    app.get('/whole', async () => 'all')
  })
  const leaving = new AbortController()
  const waiting = fetch(`${url}/waiting`, { signal: leaving.signal })
  await arrived.promise
  leaving.abort()
  await expect(waiting).rejects.toThrow()
  await requestLines(1)
  const { body } = await fetch(`${url}/begun`)
  await body?.cancel()
  await requestLines(2)
  await (await fetch(`${url}/whole`)).text()
  const ends = (await requestLines(3)).map(({ path, status }) => [path, status])
  expect(ends).toEqual([
    ['/waiting', 499],
    ['/begun', 499],
    ['/whole', 200],
  ])
  const counted = (await metrics.metrics()).match(/requests_count.*/g)
  expect(counted).toEqual([
    'requests_count{method="GET",route="/waiting",status="499"} 1',
    'requests_count{method="GET",route="/begun",status="499"} 1',
    'requests_count{method="GET",route="/whole",status="200"} 1',
  ])
})

test('an injected request is logged with the status of its response', async () => {
  const { app, requestLines } = await serverOfTest((given) => {
    given.get('/whole', async () => 'all')
    given.get('/missing', async (_request, reply) => reply.code(404).send('none'))
  })
  await app.inject('/whole')
  await app.inject('/missing')
  const ends = (await requestLines(2)).map(({ path, status }) => [path, status])
  expect(ends).toEqual([
    ['/whole', 200],
    ['/missing', 404],
  ])
})
