import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { serverOfTest } from './testing/server-of-test.ts'

/** Sends a request to a route that throws `thrown`, and returns the response and the logged errors. */
async function answerTo(
  thrown: unknown,
  addMore: (app: FastifyInstance) => void = () => undefined,
) {
  const server = await serverOfTest((app) => {
    addMore(app)
    app.get('/', async () => {
      throw thrown
    })
  })
  const answer = await fetch(server.url)
  const body = await answer.json()
  await server.requestLines(1)
  const logged = server.lines.filter(({ msg }) => msg === 'request failed')
  return { status: answer.status, headers: answer.headers, body, logged }
}

const problem = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { statusCode })

test("a client error is sent in the API's format, cannot be cached, and is not logged as a failure", async () => {
  const { status, headers, body, logged } = await answerTo(problem(401, 'no key'))
  expect({ status, body, logged }).toEqual({ status: 401, body: { detail: 'no key' }, logged: [] })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(headers.get('retry-after')).toBe('5')
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('the connection is closed after a 408 response', async () => {
  expect((await answerTo(problem(408, 'too slow'))).headers.get('connection')).toBe('close')
})

describe('a body that is refused before it has been read', () => {
  const headers = { 'content-type': 'application/json' }
  const mebibyte = Buffer.alloc(1024 * 1024)
  const bodies = {
    'sent with a Content-Length': () => Buffer.concat(Array.from({ length: 5 }, () => mebibyte)),
    'sent in chunks': () => ReadableStream.from(Array.from({ length: 5 }, () => mebibyte)),
  }

  test.each(Object.entries(bodies))(
    'is discarded, so that the client receives the response (body %s)',
    async (_name, body) => {
      const server = await serverOfTest((app) => app.post('/', async () => 'never'))
      for (let time = 0; time < 20; time += 1) {
        const answer = await fetch(server.url, {
          method: 'POST',
          headers,
          body: body(),
          duplex: 'half',
        })
        expect(answer.status).toBe(413)
        expect(answer.headers.get('connection')).not.toBe('close')
        await answer.arrayBuffer()
      }
    },
  )

  test('is not received if it is larger than 64 MiB', async () => {
    const server = await serverOfTest((app) => app.post('/', async () => 'never'))
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${65 * 1024 * 1024}\r\n\r\n`,
    )
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*connection: close/is)
  })

  test('is received only up to about 64 MiB if the request does not state its length', async () => {
    const server = await serverOfTest((app) => app.post('/', async () => 'never'))
    let sentMebibytes = 0
    const body = ReadableStream.from(
      (async function* () {
        for (; sentMebibytes < 1_000; sentMebibytes += 1) yield mebibyte
      })(),
    )
    const sending = once(server.app.server, 'connection').then(([socket]) => once(socket, 'close'))
    await fetch(server.url, { method: 'POST', headers, body, duplex: 'half' }).catch(
      () => undefined,
    )
    await sending
    expect(sentMebibytes).toBeLessThan(200)
  })
})

test('an unexpected error is a 500 without details, and is logged in full', async () => {
  const secret = new Error('the password is fish')
  const { status, body, logged } = await answerTo(secret)
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'internal error' } })
  expect(logged).toMatchObject([{ level: 'error', err: secret }])
})

test('a thrown value that is not an Error also gets a 500 response', async () => {
  const { status, body, logged } = await answerTo('the password is fish')
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'internal error' } })
  expect(logged).toMatchObject([{ err: { message: 'thrown: the password is fish' } }])
})

test('an error response has no headers that describe the intended content', async () => {
  const { headers } = await answerTo(problem(404, 'gone'), (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('content-range', 'bytes 0-9/10').header('etag', '"a"')
      reply.header('cache-control', 'public, max-age=60')
    })
  })
  expect(headers.get('content-range')).toBeNull()
  expect(headers.get('etag')).toBeNull()
  expect(headers.get('cache-control')).toBe('no-store')
})

test('if an error occurs after the response has begun, the response is aborted and the error is logged', async () => {
  const server = await serverOfTest((app) => {
    app.get('/', async (_request, reply) => {
      reply.raw.writeHead(200, { 'content-length': 10 }).write('some')
      throw problem(400, 'too late')
    })
  })
  await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow()
  expect(await server.requestLines(1)).toMatchObject([{ status: 500 }])
  expect(server.lines).toContainEqual(
    expect.objectContaining({ level: 'error', msg: 'request failed' }),
  )
})

test('an error that occurs because the client has disconnected is not logged as a failure of the server', async () => {
  const server = await serverOfTest((app) => {
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.put('/', async (request) => {
      for await (const _ of request.raw);
    })
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('PUT / HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 9\r\n\r\nsome')
  await once(server.app.server, 'request')
  socket.destroy()
  expect(await server.requestLines(1)).toMatchObject([{ status: 499 }])
  await expect
    .poll(() => server.lines.find(({ msg }) => msg === 'request failed'))
    .toMatchObject({ level: 'debug' })
})
