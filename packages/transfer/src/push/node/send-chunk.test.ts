import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { directNetwork } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import { ApiError } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../testing/pull-scene.ts'
import { sendChunk } from './send-chunk.ts'

/**
 * Sends a chunk of three bytes to a server that responds with `answer`. Settles like `sendChunk`.
 */
async function send(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const path = join(temporaryDirectory(), 'tide.gguf')
  writeFileSync(path, 'abc')
  const handle = await open(path)
  const network = openNetwork(directNetwork)
  onTestFinished(async () => {
    await handle.close()
    await network.destroy()
    server.closeAllConnections()
    server.close()
  })
  const tools = {
    network,
    handle,
    path,
    chunkSize: 3,
    limit: { take: () => 0 },
  }
  const options = { signal: new AbortController().signal, onSent: () => undefined }
  const url = `http://127.0.0.1:${port}/chunk`
  return sendChunk(tools, { index: 0, hash: '', size: 3, url, headers: {} }, options)
}

/** Writes until the client stops reading. */
function endless(response: ServerResponse, status: number) {
  const block = Buffer.alloc(64 * 1024, 'x')
  response.writeHead(status, { 'content-type': 'application/json' })
  const write = () => {
    while (!response.destroyed && response.write(block));
  }
  response.on('drain', write)
  write()
}

test.each([
  [200, 'not_a_registry'],
  [400, 'bytes_refused'],
])('an endless response with status %i is cut off', async (status, code) => {
  const closed = Promise.withResolvers<void>()
  await expect(
    send((response) => {
      response.once('close', closed.resolve)
      endless(response, status)
    }),
  ).rejects.toMatchObject({ code })
  await closed.promise // the client has closed the connection
})

test("a store's reason is reported, and that of a server in front of it", async () => {
  const answer = (status: number, type: string, body: string) =>
    send((response) => response.writeHead(status, { 'content-type': type }).end(body))
  const xml = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'
  await expect(answer(403, 'application/xml', xml)).rejects.toThrow(
    /returned status 403 “AccessDenied: Request has expired”$/,
  )
  const page = '<title>413 Request Entity Too Large</title>'
  await expect(answer(413, 'text/html', page)).rejects.toMatchObject({
    message: expect.stringMatching(/returned status 413 “Request Entity Too Large”$/),
    details: { status: 413 },
  })
})

test("the registry's reason is reported if the response has a normal length", async () => {
  const detail = 'x'.repeat(10_000)
  const sending = send((response) => response.writeHead(400).end(JSON.stringify({ detail })))
  await expect(sending).rejects.toThrow(new ApiError(400, { detail }))
})
