/** The behaviour that the registry takes from the shell of both servers, as seen by clients and in the log. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

async function loggedRegistry() {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'))
  const file = join(folder, 'registry.log')
  const registry = await startTestRegistry({ log: { file } })
  onTestFinished(async () => {
    await registry.close()
    await rm(folder, { recursive: true })
  })
  const requestLines = async () =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line))
  return { registry, requestLines }
}

test('a request whose client disconnected is logged and counted as 499', async () => {
  const { registry, requestLines } = await loggedRegistry()
  const socket = connect(registry.port, '127.0.0.1')
  socket.write(
    `POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  )
  socket.once('data', () => socket.destroy()) // it may continue: the registry waits for the body
  const line = expect.objectContaining({ path: '/v1/auth/login', status: 499, ip: '127.0.0.1' })
  await expect.poll(requestLines).toContainEqual(line)
  const { text } = await registry.get('/metrics')
  expect(text).toContain(
    'shoal_http_request_seconds_count{method="POST",route="/v1/auth/login",status="499"} 1',
  )
})

test('a URL that cannot be decoded is logged with its request ID', async () => {
  const { registry, requestLines } = await loggedRegistry()
  const { status } = await rawRequest(
    registry.port,
    'GET /v1/%zz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: call-7\r\nConnection: close\r\n\r\n',
  )
  expect(status).toBe(400)
  const line = { reqId: 'call-7', path: '/v1/%zz', status: 400, ip: '127.0.0.1' }
  await expect.poll(requestLines).toContainEqual(expect.objectContaining(line))
})

test('a 404 is not cacheable', async () => {
  const { registry } = await loggedRegistry()
  const { status, headers } = await registry.get('/v1/nothing')
  expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
})
