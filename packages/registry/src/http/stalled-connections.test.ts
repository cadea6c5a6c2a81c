import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Download } from '@shoal/protocol'
import { afterEach, expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import type { ConnectionTimeouts } from '../config.ts'
import { sliceBytes } from '../store/byte-budget.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const hourMs = 3_600_000
const never: ConnectionTimeouts = {
  readerMs: hourMs,
  senderMs: hourMs,
  headersMs: hourMs,
  idleMs: hourMs,
}
/** More bytes than the operating system buffers for one connection. */
const fileBytes = 48 * 1024 * 1024

/** Number of bytes that a slow client reads between two pauses. */
const pauseEveryBytes = 256 * 1024

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function start(timeouts: Partial<ConnectionTimeouts>): Promise<TestRegistry> {
  const registry = await startTestRegistry({ timeouts: { ...never, ...timeouts } })
  opened.push(registry)
  return registry
}

/** Sends a request, which may be incomplete. The response is read only if the test reads from the socket. */
function send(registry: TestRegistry, request: string): Socket {
  const socket = connect(registry.port, '127.0.0.1')
  opened.push({ close: () => socket.destroy() })
  socket.on('error', () => undefined)
  socket.write(request)
  return socket
}

async function metric(registry: TestRegistry, name: string): Promise<number> {
  const { text: all } = await registry.get('/metrics')
  const line = all.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}

/** Returns a request for more bytes than the operating system's buffers can hold. */
async function makeDownloadRequest(registry: TestRegistry): Promise<string> {
  const token = await registry.register('ana')
  const bytes = smallGguf(7, fileBytes / 4)
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  const { body }: { body: Download } = await registry.get(`/v1/files/tide/download/${id}`)
  const { pathname, search } = new URL(body.direct_url)
  return `GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
}

test('a client that accepts no part of a download is disconnected, and its buffers are released', async () => {
  const registry = await start({ readerMs: 400 })
  const request = await makeDownloadRequest(registry)
  for (let reader = 0; reader < 3; reader += 1) send(registry, request).pause()
  await expect
    .poll(() => metric(registry, 'shoal_http_stalled_connections_total{side="reader"}'))
    .toBe(3)
  await expect.poll(() => metric(registry, 'shoal_transfers')).toBe(0)
  expect(await metric(registry, 'shoal_transfer_buffer_bytes')).toBe(0)
})

slowTest('a fast client that stops reading occupies only one slice', async () => {
  const registry = await start({})
  const request = await makeDownloadRequest(registry)
  const readers = 4
  for (let reader = 0; reader < readers; reader += 1) {
    const socket = send(registry, request)
    for (let taken = 0; taken < fileBytes / 4; ) {
      const [bytes] = await once(socket, 'data')
      taken += bytes.length
    }
    socket.pause()
  }
  await expect.poll(() => metric(registry, 'shoal_transfers')).toBe(readers)
  await expect
    .poll(() => metric(registry, 'shoal_transfer_buffer_bytes'))
    .toBeLessThanOrEqual(readers * sliceBytes)
})

slowTest('a slow client receives every byte', async () => {
  const registry = await start({ readerMs: 2_000 })
  const socket = send(registry, await makeDownloadRequest(registry))
  let taken = 0
  let pauses = 0
  for await (const bytes of socket) {
    taken += bytes.length
    if (taken / pauseEveryBytes < pauses) continue
    pauses += 1
    await sleep(20)
  }
  expect(taken).toBeGreaterThan(fileBytes)
  expect(await metric(registry, 'shoal_http_stalled_connections_total{side="reader"}')).toBe(0)
})

test('half of a JSON body gets 408 if the rest does not arrive', async () => {
  const registry = await start({ senderMs: 300 })
  const token = await registry.register('ana')
  const socket = send(
    registry,
    `POST /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name": ',
  )
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toMatch(/^connection: close$/im)
  expect(answer).toContain('{"detail":"nothing was sent for too long')
})

test('a connection is not kept open to wait for the rest of a body that the registry does not need', async () => {
  const registry = await start({ senderMs: 300 })
  const bodies = [
    'POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json', // 408, before authentication
    'POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain', // 404
    'GET /v1/models HTTP/1.1\r\nHost: localhost', // 200
    'PUT /blobs/nothing HTTP/1.1\r\nHost: localhost', // 403
  ]
  const answers = await Promise.all(
    bodies.map((head) => text(send(registry, `${head}\r\nContent-Length: 100\r\n\r\nhalf`))),
  )
  const statuses = answers.map((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
  expect(statuses).toEqual(['408', '404', '200', '403'])
})

test('a client that sends JSON slowly is not disconnected', async () => {
  const registry = await start({ senderMs: 2_000 })
  const token = await registry.register('ana')
  const body = JSON.stringify({ name: 'tide', description: 'x'.repeat(60) })
  const socket = send(
    registry,
    `POST /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  for (const letter of body) {
    await sleep(30)
    socket.write(letter)
  }
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 /)
})

test('incomplete headers get 408, and a connection without a request is closed', async () => {
  const registry = await start({ headersMs: 400, idleMs: 300 })
  const endless = send(registry, 'GET /v1/models HTTP/1.1\r\nHost: loc')
  const silent = send(registry, '')
  const idle = send(registry, 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answers = await Promise.all([endless, silent, idle].map((socket) => text(socket)))
  expect(answers[0]).toMatch(/^HTTP\/1\.1 408 [\s\S]*the headers took too long/)
  expect(answers[1]).toMatch(/^$|^HTTP\/1\.1 408 /)
  expect(answers[2]).toMatch(/^HTTP\/1\.1 200 /)
})

slowTest(
  'a client that pipelines many requests and reads nothing occupies only one buffer',
  async () => {
    const registry = await start({})
    const request = (await makeDownloadRequest(registry)).replace('Connection: close\r\n', '')
    const socket = send(registry, request.repeat(200)).pause()
    await expect.poll(() => metric(registry, 'shoal_transfer_buffer_bytes')).toBe(sliceBytes)
    expect(await metric(registry, 'shoal_transfers')).toBe(1)

    socket.destroy()
    await expect.poll(() => metric(registry, 'shoal_transfers')).toBe(0)
    expect((await registry.get('/readyz')).status).toBe(200)
  },
)

test('pipelined requests are answered one after another', async () => {
  const registry = await start({})
  const whole = await makeDownloadRequest(registry)
  const last = whole.replace('Host', 'Range: bytes=0-4\r\nHost')
  const first = last.replace('Connection: close\r\n', '')
  const answers = await text(send(registry, first.repeat(20) + last))
  expect(answers.match(/HTTP\/1\.1 206/g)).toHaveLength(21)
})
