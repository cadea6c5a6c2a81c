/** Tests behavior of the code shared by all servers, as seen by the registry's clients and in its log. */
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

async function loggedRegistry() {
  const log = temporaryLog()
  const registry = await startTestRegistry({ log })
  onTestFinished(() => registry.close())
  const requestLines = () => log.lines().filter(({ msg }) => msg === 'request')
  return { registry, requestLines }
}

test('a request whose client disconnected is logged and counted as 499', async () => {
  const { registry, requestLines } = await loggedRegistry()
  const socket = connect(registry.port, '127.0.0.1')
  socket.write(
    `POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  )
  socket.once('data', () => socket.destroy()) // after 100 Continue, the registry waits for the body
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
