import { expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const page = 'http://chat.lan:3000'

function preflight(port: number, origin: string, headers: string[] = []) {
  return rawRequest(
    port,
    [
      'OPTIONS /v1/chat/completions HTTP/1.1',
      `Host: localhost:${port}`,
      `Origin: ${origin}`,
      'Access-Control-Request-Method: POST',
      ...headers,
      'Connection: close',
      '',
      '',
    ].join('\r\n'),
  )
}

test('a preflight request from an allowed origin succeeds without a key', async () => {
  const { port } = await useTestDaemon({ origins: [page], apiKey: 'secret' })
  const asked = 'Access-Control-Request-Headers: authorization,X-Stainless-OS, content-type,x-evil'
  const { status, head, body } = await preflight(port, page, [asked])
  expect({ status, body }).toEqual({ status: 204, body: '' })
  expect(head).toContain(`access-control-allow-origin: ${page}\r\n`)
  expect(head).toContain('vary: origin\r\n')
  expect(head).toContain(
    'access-control-allow-headers: authorization, x-stainless-os, content-type\r\n',
  )
  expect(head).toMatch(/access-control-allow-methods: .*post.*\r\n/)
  expect(head).toContain('access-control-max-age: ')
  expect(head).not.toContain('private-network')
})

test('only an allowed origin may access the local network', async () => {
  const { port } = await useTestDaemon({ origins: [page] })
  const asked = ['Access-Control-Request-Private-Network: true']
  const allowed = await preflight(port, page, asked)
  expect(allowed.head).toContain('access-control-allow-private-network: true')
  const foreign = await preflight(port, 'https://evil.example', asked)
  expect(foreign.status).toBe(403)
  expect(foreign.head).not.toContain('access-control')
})

test('responses, errors and streams are readable only by pages from the allowed origin', async () => {
  const { port } = await useTestDaemon({ origins: [page] })
  const ask = async (method: string, path: string, body?: object) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    return await rawRequest(
      port,
      [
        `${method} ${path} HTTP/1.1`,
        `Host: localhost:${port}`,
        `Origin: ${page}`,
        'Content-Type: application/json',
        `Content-Length: ${text.length}`,
        'Connection: close',
        '',
        text,
      ].join('\r\n'),
    )
  }
  const messages = [{ role: 'user', content: 'Hello' }]
  const chat = { model: 'shoal-nano', messages, stream: true }
  const answers = [
    await ask('GET', '/api/tags'),
    await ask('GET', '/nowhere'),
    await ask('POST', '/api/show', { model: 'nobody' }),
    await ask('POST', '/v1/chat/completions', chat),
    await ask('POST', '/api/chat', chat),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 200, 200])
  for (const { head } of answers) {
    expect.soft(head).toContain(`access-control-allow-origin: ${page}\r\n`)
    expect.soft(head).toContain('vary: origin\r\n')
  }
})
