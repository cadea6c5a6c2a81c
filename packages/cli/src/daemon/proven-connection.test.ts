import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { computeProof } from '@shoal/daemon/proof'
import { DaemonGoneError } from '@shoal/protocol/inference-client'
import { expect, onTestFinished, test } from 'vitest'
import { daemonClient } from './daemon-client.ts'
import { proveConnection } from './proven-connection.ts'

const token = 'secret'

/** Starts a server that knows the token and records the connection of each request. */
async function provingServer(alter: (answer: ServerResponse) => void = () => undefined) {
  const asked: { path: string; clientPort: number | undefined }[] = []
  const server = createServer(({ url = '', socket }, answer) => {
    const [path = '', query] = url.split('?')
    asked.push({ path, clientPort: socket.remotePort })
    const { localAddress: address, localPort: port } = socket
    const nonce = new URLSearchParams(query).get('nonce') ?? ''
    alter(answer)
    answer.end(
      JSON.stringify({ status: 'ok', proof: computeProof(token, nonce, { address, port }) }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://localhost:${port}`, asked }
}

test('a request uses the proven connection', async () => {
  const { url, asked } = await provingServer()
  const address = { url, apiKey: 'key', proofToken: token }
  await daemonClient(address).listLoaded()
  await daemonClient(address).load('tide')
  expect(asked.map(({ path }) => path)).toEqual(['/healthz', '/api/ps', '/healthz', '/api/load'])
  expect(asked[1]?.clientPort).toBe(asked[0]?.clientPort)
  expect(asked[3]?.clientPort).toBe(asked[2]?.clientPort)
})

test('nothing is sent if the proven connection was closed, because a new one may reach another program', async () => {
  const { url, asked } = await provingServer((answer) => answer.setHeader('connection', 'close'))
  const client = daemonClient({ url, apiKey: 'key', proofToken: token })
  const request = { model: 'tide', messages: [{ role: 'user' as const, content: 'private' }] }
  const answer = client.chat(request, new AbortController().signal)
  await expect(answer.next()).rejects.toThrow(DaemonGoneError)
  expect(asked.map(({ path }) => path)).toEqual(['/healthz'])
})

test('an endless response is rejected', async () => {
  const { url } = await provingServer((answer) => answer.write('x'.repeat(10_000)))
  await expect(proveConnection(url.replace('localhost', '127.0.0.1'), token)).rejects.toThrow(
    'the response is not from a daemon',
  )
})
