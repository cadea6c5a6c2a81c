import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

describe('an upgrade request', () => {
  let registry: TestRegistry
  beforeAll(async () => {
    registry = await startTestRegistry()
  })
  afterAll(() => registry.close())

  const ask = (path: string, headers: string[], host = 'localhost') => {
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers]
    return rawRequest(registry.port, `${lines.join('\r\n')}\r\n\r\n`)
  }
  const webSocket = ['Upgrade: websocket', 'Connection: Upgrade, close']
  const version = 'Sec-WebSocket-Version: 13'
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

  test('to HTTP/2 is treated as a normal request, because many clients offer HTTP/2', async () => {
    const headers = [
      'Upgrade: h2c',
      'Connection: Upgrade, HTTP2-Settings, close',
      'HTTP2-Settings: AA',
    ]
    for (const path of ['/v1/models', '/healthz', '/announce']) {
      expect(await ask(path, headers)).toMatchObject({ status: 200 })
    }
  })

  test('to WebSocket is treated as a normal request if the path does not support WebSocket', async () => {
    expect(await ask('/v1/models', [...webSocket, version, key])).toMatchObject({ status: 200 })
    expect(await ask('/nowhere', [...webSocket, version, key])).toMatchObject({ status: 404 })
  })

  test('is subject to the same checks as other requests', async () => {
    const foreign = await ask('/announce', [...webSocket, version, key], 'evil.example')
    expect(foreign.status).toBe(400)
    expect(foreign.text).toContain('unknown_host')
    const bearer = 'Authorization: Bearer nonsense'
    expect(await ask('/announce', [...webSocket, version, key, bearer])).toMatchObject({
      status: 401,
    })
    expect(await ask('/announce/a/b', [...webSocket, version, key])).toMatchObject({ status: 404 })
    expect(await ask('/announce', webSocket)).toMatchObject({ status: 400 })
  })
})
