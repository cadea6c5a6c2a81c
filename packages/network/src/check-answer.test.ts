import { fetchTransport, registryClient } from '@shoal/protocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { openNetwork } from './dispatcher.ts'
import { httpTransport } from './http-transport.ts'
import { directNetwork } from './settings.ts'
import { noRetry, scripted } from './testing/scripted.ts'

/** Returns the error with which a call fails if a server gives this response. */
async function errorFor(status: number, type: string, body: string) {
  const server = await scripted((_, response) =>
    response.writeHead(status, { 'content-type': type }).end(body),
  )
  const network = openNetwork(directNetwork)
  onTestFinished(() => network.destroy())
  const transport = httpTransport(network)
  const client = registryClient({ baseUrl: server.url, transport, ...noRetry })
  return client.listModels().catch((error) => error)
}

const nginx = (status: string) => `<html>\r\n<head><title>${status}</title></head></html>`
const haproxy = (status: string) => `<html><body><h1>${status}</h1>\nNo.\n</body></html>`

test.each([
  ['nginx denies it', 403, 'text/html', nginx('403 Forbidden'), 'html', 'status 403 “Forbidden”'],
  [
    'HAProxy denies it',
    403,
    'text/html',
    haproxy('403 Forbidden'),
    'html',
    'status 403 “Forbidden”',
  ],
  [
    'nginx requires TLS at the port',
    400,
    'text/html',
    nginx('400 The plain HTTP request was sent to HTTPS port'),
    'not_http',
    'status 400 “The plain HTTP request was sent to HTTPS port”',
  ],
  [
    'a server in Go requires TLS at the port',
    400,
    'text/plain',
    'Client sent an HTTP request to an HTTPS server.\n',
    'not_http',
    'status 400',
  ],
  [
    'a FastAPI program has the port',
    404,
    'application/json',
    '{"detail":"Not Found"}',
    'other_program',
    'status 404',
  ],
  [
    'the network shows a page instead',
    200,
    'text/html',
    '<title>Hotel WLAN</title>',
    'html',
    'status 200 “Hotel WLAN”',
  ],
])('if %s, the failure says so', async (_, status, type, body, reason, detail) => {
  const { failure } = await errorFor(status, type, body)
  expect(failure).toMatchObject({ code: 'not_a_registry', reason, detail })
})

test('in a browser, too, a page of the network is not an error of the program', async () => {
  const page = async () => new Response('<title>Hotel WLAN</title>')
  const client = registryClient({ baseUrl: 'http://a.test', transport: fetchTransport(page) })
  await expect(client.getModel('tide')).rejects.toMatchObject({
    failure: { code: 'not_a_registry', detail: 'status 200 “Hotel WLAN”' },
  })
})

test.each([
  [413, nginx('413 Request Entity Too Large'), '“Request Entity Too Large”'],
  [503, haproxy('503 Service Unavailable'), '“Service Unavailable”'],
])(
  'a page with status %i is attributed to a server in front of the registry',
  async (status, body, title) => {
    expect(await errorFor(status, 'text/html', body)).toMatchObject({
      message: `a server in front of the registry returned status ${status} ${title}`,
      details: { isForeign: true },
    })
  },
)
