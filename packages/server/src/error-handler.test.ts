import type { FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'
import { serverOfTest } from './testing/server-of-test.ts'

/** Requests a route that throws `thrown`, and returns the response and the logged errors. */
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

test("a client error is sent in the API's format, not cached and not logged", async () => {
  const { status, headers, body, logged } = await answerTo(problem(401, 'no key'))
  expect({ status, body, logged }).toEqual({ status: 401, body: { detail: 'no key' }, logged: [] })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(headers.get('retry-after')).toBe('5')
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('the connection of a client that is too slow is closed', async () => {
  expect((await answerTo(problem(408, 'too slow'))).headers.get('connection')).toBe('close')
})

test('an unexpected error is a 500 without details, and is logged in full', async () => {
  const secret = new Error('the password is fish')
  const { status, body, logged } = await answerTo(secret)
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'internal error' } })
  expect(logged).toMatchObject([{ level: 'error', err: secret }])
})

test('any thrown value gets a response, even if it is not an error', async () => {
  const { status, body, logged } = await answerTo('the password is fish')
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'internal error' } })
  expect(logged).toMatchObject([{ err: { message: 'thrown: the password is fish' } }])
})

test("an error response has none of the intended response's headers", async () => {
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

test('a response that has begun is aborted and logged', async () => {
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
