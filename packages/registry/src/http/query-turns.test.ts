import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import Fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { handleError } from './error-handler.ts'
import { queryTurns } from './query-turns.ts'

/** A non-loopback address of this machine, for a second caller. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/**
 * Starts a server whose queries run until `finish` ends them. `names` returns the names of the queries in the order in
 * which they started.
 */
async function startServer(limits: Parameters<typeof queryTurns>[0]) {
  const turns = queryTurns(limits)
  const begun: { name: string; finish(): void }[] = []
  const arrived: string[] = []
  const left: string[] = []
  const app = Fastify()
  app.setErrorHandler(handleError)
  app.addHook<{ Params: { name: string } }>('preHandler', async ({ params }, reply) => {
    arrived.push(params.name)
    reply.raw.once('close', () => left.push(params.name))
  })
  app.get<{ Params: { name: string } }>('/:name', (request, reply) =>
    turns.run(request, reply, () => {
      const { promise, resolve } = Promise.withResolvers<string>()
      begun.push({ name: request.params.name, finish: () => resolve('found') })
      return promise
    }),
  )
  await app.listen({ host: '0.0.0.0', port: 0 })
  closing.push(() => app.close())
  const { port } = app.server.address() as { port: number }
  return {
    port,
    arrived,
    left,
    names: () => begun.map(({ name }) => name),
    ask: (name: string, host = '127.0.0.1') => fetch(`http://${host}:${port}/${name}`),
    async finish(name: string) {
      await expect.poll(() => begun.find((one) => one.name === name)).toBeDefined()
      begun.find((one) => one.name === name)?.finish()
    },
  }
}

test('each caller has at most one query running; its next query starts when that one has ended', async () => {
  const server = await startServer({ maxConcurrent: 3 })
  const first = server.ask('first')
  await expect.poll(server.names).toEqual(['first'])
  const second = server.ask('second')
  const third = server.ask('third')
  await server.finish('first')
  expect((await first).status).toBe(200)
  await expect.poll(() => server.names().length).toBe(2)
  for (const name of ['second', 'third']) await server.finish(name)
  for (const answer of [second, third]) expect((await answer).status).toBe(200)
})

test.skipIf(!ownAddress)('callers take turns, however many queries a caller sends', async () => {
  const server = await startServer({ maxConcurrent: 1 })
  const answers = [server.ask('a1')]
  await expect.poll(server.names).toEqual(['a1'])
  for (const [name, host] of [
    ['a2', '127.0.0.1'],
    ['a3', '127.0.0.1'],
    ['b', ownAddress],
  ] as const) {
    answers.push(server.ask(name, host))
    await expect.poll(() => server.arrived).toContain(name)
  }
  for (const name of ['a1', 'a2', 'b', 'a3']) await server.finish(name)
  for (const answer of answers) expect((await answer).status).toBe(200)
  expect(server.names()).toEqual(['a1', 'a2', 'b', 'a3'])
})

test('a caller with too many waiting queries gets 429 with Retry-After', async () => {
  const server = await startServer({ maxConcurrent: 1, maxWaitingPerCaller: 2 })
  const first = server.ask('first')
  await expect.poll(server.names).toEqual(['first'])
  const others = ['x', 'y', 'z'].map((name) => server.ask(name))
  const refused = await Promise.race(others)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('2')
  expect(await refused.json()).toEqual({
    detail: 'too many concurrent searches: try again in 2 s',
    code: 'too_many_searches',
  })
  await server.finish('first')
  await expect.poll(() => server.names().length).toBe(2)
  await server.finish(server.names()[1] ?? '')
  await expect.poll(() => server.names().length).toBe(3)
  await server.finish(server.names()[2] ?? '')
  const statuses = (await Promise.all([first, ...others])).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([200, 200, 200, 429])
})

test('if a caller disconnects, the next query gets its turn', async () => {
  const server = await startServer({ maxConcurrent: 1 })
  const first = server.ask('first')
  await expect.poll(server.names).toEqual(['first'])
  const leaving = connect(server.port, '127.0.0.1')
  leaving.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => server.arrived).toContain('gone')
  leaving.destroy()
  await expect.poll(() => server.left).toContain('gone')
  const last = server.ask('last')
  await server.finish('first')
  expect((await first).status).toBe(200)
  await server.finish('last')
  expect((await last).status).toBe(200)
  expect(server.names()).not.toContain('gone')
})
