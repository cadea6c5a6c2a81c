import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { byteBudget } from '../store/byte-budget.ts'
import { sendBytes } from './send-bytes.ts'

test('a client that disconnects during a download is not logged as a failed download', async () => {
  const lines: { level: number; msg: string }[] = []
  const stream = { write: (line: string) => lines.push(JSON.parse(line)) }
  const app = fastify({ logger: { level: 'warn', stream } })
  onTestFinished(() => app.close())
  const budget = byteBudget()
  const reader = { fill: async () => undefined, close: async () => undefined }
  const closed: Promise<unknown>[] = []
  app.get('/', (request, reply) => {
    closed.push(once(reply.raw satisfies ServerResponse, 'close'))
    return sendBytes(request, reply, {
      sizeBytes: 2 ** 30,
      etag: '"a"',
      open: async () => reader,
      budget,
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  for (let client = 0; client < 20; client += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
    if (client % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
  }
  await expect.poll(budget.transfers).toBe(0)
  expect(closed).toHaveLength(20)
  await Promise.all(closed)
  expect(lines).toEqual([])
})
