/** Tests the server code that the daemon shares with the registry, as seen by clients and in the log. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

async function loggedDaemon() {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'))
  const file = join(folder, 'daemon.log')
  const daemon = await startTestDaemon({ log: { file } }, scriptedRuntime())
  onTestFinished(async () => {
    await daemon.close()
    await rm(folder, { recursive: true })
  })
  const requestLines = async () =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line))
  return { ...daemon, requestLines }
}

test('the log has one line per request, with its request ID and no secrets', async () => {
  const { url, port, requestLines } = await loggedDaemon()
  const answer = await fetch(`${url}/api/version?key=secret`, {
    headers: {
      'x-request-id': 'call-7',
      'x-api-key': 'key-of-user',
      authorization: 'Bearer key-of-user',
    },
  })
  expect(answer.headers.get('x-request-id')).toBe('call-7')
  await fetch(`${url}/healthz`)
  await fetch(`${url}/metrics`)
  await fetch(`${url}/v1/${'x'.repeat(65)}`)
  await rawRequest(port, 'GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await expect.poll(requestLines).toMatchObject([
    { reqId: 'call-7', method: 'GET', path: '/api/version', status: 200 },
    { path: '/v1/***', status: 404 },
    { path: '/%zz', status: 400 },
  ])
  expect(JSON.stringify(await requestLines())).not.toContain('key-of-user')
})

test('the ID of a response is not in the log, because it gives access to a conversation', async () => {
  const { url, requestLines } = await loggedDaemon()
  await fetch(`${url}/v1/responses/resp_${'0'.repeat(64)}`)
  await fetch(`${url}/v1/responses/resp_${'0'.repeat(64)}`, { method: 'DELETE' })
  await expect.poll(requestLines).toMatchObject([
    { method: 'GET', path: '/v1/responses/***', status: 404 },
    { method: 'DELETE', path: '/v1/responses/***', status: 404 },
  ])
})

test('a request whose client disconnected is logged as 499', async () => {
  const { port, requestLines } = await loggedDaemon()
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  )
  socket.once('data', () => socket.destroy()) // the daemon has sent `100 Continue`, and waits for the body
  await expect.poll(requestLines).toMatchObject([{ path: '/api/chat', status: 499 }])
})

test('errors are not cacheable', async () => {
  const { url } = await loggedDaemon()
  for (const path of ['/v1/nothing', '/api/nothing', '/v1/models/nothing']) {
    const { status, headers } = await fetch(url + path)
    expect([path, status, headers.get('cache-control')]).toEqual([path, 404, 'no-store'])
  }
})
