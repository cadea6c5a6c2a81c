import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { proofOf } from '@shoal/daemon/proof'
import { expect, onTestFinished, test } from 'vitest'
import { callForJson } from './daemon-call.ts'
import { DaemonGoneError } from './daemon-error.ts'
import { proveConnection } from './proven-connection.ts'

const token = 'secret'

/** Knows the token, and notes on which connection each request came. */
async function provingServer(alter: (answer: ServerResponse) => void = () => undefined) {
  const asked: { path: string; clientPort: number | undefined }[] = []
  const server = createServer(({ url = '', socket }, answer) => {
    const [path = '', query] = url.split('?')
    asked.push({ path, clientPort: socket.remotePort })
    const { localAddress: address, localPort: port } = socket
    const nonce = new URLSearchParams(query).get('nonce') ?? ''
    alter(answer)
    answer.end(JSON.stringify({ status: 'ok', proof: proofOf(token, nonce, { address, port }) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://localhost:${port}`, asked }
}

test('a call goes over the connection that was proven', async () => {
  const { url, asked } = await provingServer()
  const address = { url, apiKey: 'key', proofToken: token }
  await callForJson(address, { method: 'GET', path: '/api/ps' })
  await callForJson(address, { method: 'POST', path: '/api/load', body: { model: 'tide' } })
  expect(asked.map(({ path }) => path)).toEqual(['/healthz', '/api/ps', '/healthz', '/api/load'])
  expect(asked[1]?.clientPort).toBe(asked[0]?.clientPort)
  expect(asked[3]?.clientPort).toBe(asked[2]?.clientPort)
})

test('nothing is sent where the proven connection has been closed: another may be somebody else’s', async () => {
  const { url, asked } = await provingServer((answer) => answer.setHeader('connection', 'close'))
  const call = callForJson(
    { url, apiKey: 'key', proofToken: token },
    { method: 'POST', path: '/v1/chat/completions', body: { prompt: 'private' } },
  )
  await expect(call).rejects.toThrow(DaemonGoneError)
  expect(asked.map(({ path }) => path)).toEqual(['/healthz'])
})

test('an endless answer is no proof', async () => {
  const { url } = await provingServer((answer) => answer.write('x'.repeat(10_000)))
  await expect(proveConnection(url.replace('localhost', '127.0.0.1'), token)).rejects.toThrow(
    'no answer of a daemon',
  )
})
