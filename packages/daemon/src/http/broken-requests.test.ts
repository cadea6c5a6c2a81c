import { expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const end = 'Connection: close\r\n\r\n'

test('a request that is not HTTP or cannot be parsed gets an error in the usual format', async () => {
  const { port } = await useTestDaemon()
  const host = `Host: localhost:${port}\r\n`
  const requests: [number, string][] = [
    [400, `NONSENSE /v1/models HTTP/1.1\r\n${host}${end}`],
    [400, '\x16\x03\x01\x02 this is TLS'],
    [400, `GET /v1/models/%zz HTTP/1.1\r\n${host}${end}`],
    [400, `GET /v1/models HTTP/1.1\r\n${end}`],
    [400, `GET /v1/models HTTP/1.1\r\n${host}Host: evil.example\r\n${end}`],
    [403, `GET http://evil.example/v1/models HTTP/1.1\r\n${host}${end}`],
    [417, `GET /v1/models HTTP/1.1\r\n${host}Expect: a-miracle\r\n${end}`],
    [431, `GET /v1/models HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n${end}`],
  ]
  for (const [expected, request] of requests) {
    const { status, head, body } = await rawRequest(port, request)
    expect.soft(status, request.slice(0, 40)).toBe(expected)
    expect.soft(head).toContain('x-request-id: ')
    const message = expect.any(String)
    expect.soft(JSON.parse(body)).toMatchObject({ detail: message, error: { message } })
  }
})

test('a request target in absolute form is accepted', async () => {
  const { port } = await useTestDaemon()
  const target = `http://localhost:${port}/api/version`
  const request = `GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\n${end}`
  expect(await rawRequest(port, request)).toMatchObject({ status: 200 })
})
