import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { testCertificates } from '../../../testing/tls-certificates/index.ts'
import { openNetwork } from './dispatcher.ts'
import { directNetwork } from './settings.ts'
import { trusting } from './testing/scripted.ts'
import { type Handler, startServer } from './testing/servers.ts'

type OnBytes = (controller: Dispatcher.DispatchController, bytes: Buffer) => void

const computeSha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Returns a function that requests a URL and resolves with the headers and the SHA-256 of the body. */
function openReader(onBytes: OnBytes = () => undefined) {
  const network = openNetwork({ ...directNetwork, ...trusting }, { sharesBuffer: true })
  onTestFinished(() => network.destroy())
  return (origin: string, path = '/') => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      headers: Record<string, unknown>
      sha256: string
    }>()
    const hash = createHash('sha256')
    let headers: Record<string, unknown> = {}
    network.agentFor(new URL(origin)).dispatch(
      { origin, path, method: 'GET' },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, __, given) {
          headers = given
        },
        onResponseData(controller, bytes) {
          hash.update(bytes)
          onBytes(controller, bytes)
        },
        onResponseEnd: () => resolve({ headers, sha256: hash.digest('hex') }),
        onResponseError: (_, error) => reject(error),
      },
    )
    return promise
  }
}

/** Starts a server that passes each connection to `onRequest` when a request has arrived. */
async function startRawServer(onRequest: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('data', () => onRequest(socket))
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each(['http', 'https'])(
  'parallel %s responses arrive intact through one buffer',
  async (scheme) => {
    const bodies = Array.from({ length: 6 }, () => randomBytes(3_000_000))
    const respond: Handler = ({ url }, response) => response.end(bodies[Number(url?.slice(1))])
    const isSecure = scheme === 'https'
    const { port } = await startServer(respond, isSecure ? testCertificates.valid : undefined)
    const buffers = new Map<ArrayBufferLike, number>()
    const read = openReader((_, { buffer, length }) => {
      buffers.set(buffer, (buffers.get(buffer) ?? 0) + length)
    })
    const origin = `${scheme}://${isSecure ? 'localhost' : '127.0.0.1'}:${port}`
    for (const _ of ['new connections', 'the same connections']) {
      const all = await Promise.all(bodies.map((_, index) => read(origin, `/${index}`)))
      expect(all.map(({ sha256 }) => sha256)).toEqual(bodies.map(computeSha256))
    }
    expect(Math.max(...buffers.values())).toBeGreaterThan(2 * 6 * 2_500_000)
  },
)

test('responses that are paused repeatedly arrive intact', async () => {
  const bodies = Array.from({ length: 4 }, () => randomBytes(2_000_000))
  const respond: Handler = ({ url }, response) => response.end(bodies[Number(url?.slice(1))])
  const { port } = await startServer(respond)
  let pauses = 0
  const read = openReader((controller) => {
    controller.pause()
    pauses += 1
    setTimeout(() => controller.resume(), pauses % 3)
  })
  const all = await Promise.all(
    bodies.map((_, index) => read(`http://127.0.0.1:${port}`, `/${index}`)),
  )
  expect(all.map(({ sha256 }) => sha256)).toEqual(bodies.map(computeSha256))
})

test('headers are intact if another response arrives before they are complete', async () => {
  const waiting: Socket[] = []
  const slow = await startRawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-first: one\r\nx-sec')
    waiting.push(socket)
  })
  const body = randomBytes(1_000_000)
  const { port } = await startServer((_, response) => response.end(body))
  const read = openReader()
  const first = read(slow)
  await expect.poll(() => waiting.length).toBe(1)
  await read(`http://127.0.0.1:${port}`)
  waiting[0]?.write('ond: two\r\n\r\nok')
  expect(await first).toMatchObject({
    headers: { 'content-length': '2', 'x-first': 'one', 'x-second': 'two' },
    sha256: computeSha256(Buffer.from('ok')),
  })
})

test('a request whose handler aborts it during a read fails without an uncaught error', async () => {
  const { port } = await startServer((_, response) => response.end(randomBytes(3_000_000)))
  const read = openReader((controller) => {
    controller.pause()
    controller.abort(new Error('enough'))
  })
  await expect(read(`http://127.0.0.1:${port}`)).rejects.toThrow('enough')
})
