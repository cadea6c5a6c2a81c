import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { directNetwork } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fetchRange } from './fetch-range.ts'

const range = { start: 2, length: 3, fileSizeBytes: 10 }
const network = openNetwork(directNetwork)
afterAll(() => network.destroy())
const fetchFrom = (address: string) =>
  fetchRange(network, address, range, new AbortController().signal)

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`
}

test('a redirect to another host is followed with the range', async () => {
  const store = await serve(({ headers }, response) => {
    expect(headers.range).toBe('bytes=2-4')
    response.writeHead(206, { 'content-range': 'bytes 2-4/10' }).end('abc')
  })
  const registry = await serve((_, response) => {
    response.writeHead(307, { location: store }).end('elsewhere')
  })
  expect(Buffer.from(await fetchFrom(registry)).toString()).toBe('abc')
})

test('a redirect loop and a web page in place of the file are reported with their causes', async () => {
  const loop = await serve((_, response) => response.writeHead(302, { location: '/file' }).end())
  await expect(fetchFrom(loop)).rejects.toMatchObject({
    failure: { code: 'redirect_refused', reason: 'loop' },
  })
  const portal = await serve((_, response) => {
    response.writeHead(403, { 'content-type': 'text/html' }).end('<html>no</html>')
  })
  await expect(fetchFrom(portal)).rejects.toMatchObject({
    failure: { code: 'not_a_registry', reason: 'html' },
  })
})

test('a response with more bytes than requested is cut off', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const endless = await serve((_, response) => {
    response.writeHead(206, { 'content-range': 'bytes 2-4/10' })
    const send = () => {
      while (!response.destroyed && response.write('abcd'));
    }
    response.on('drain', send).on('close', resolve)
    send()
  })
  await expect(fetchFrom(endless)).rejects.toThrow('sent excess bytes; 3 were requested')
  await closed
})
