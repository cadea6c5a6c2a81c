/** Requests through proxies and with different certificates. */
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../testing/free-port.ts'
import { testCertificates } from '../../../testing/tls-certificates/index.ts'
import { openNetwork } from './dispatcher.ts'
import { sendRequest } from './send-request.ts'
import { directNetwork } from './settings.ts'
import {
  failureAt,
  fine,
  openTransport,
  scripted,
  shortTimeouts,
  trusting,
} from './testing/scripted.ts'
import { type Handler, startProxy, startServer, startSilence } from './testing/servers.ts'
import { failureOfAnswer } from './to-network-failure.ts'

test('plain HTTP requests are sent to the proxy, and HTTPS is tunneled with CONNECT', async () => {
  const plain = await scripted(fine)
  const secure = await startServer(fine, testCertificates.valid)
  const proxy = await startProxy()
  const settings = { ...trusting, httpProxy: proxy.url, httpsProxy: proxy.url }
  const send = openTransport(settings)
  expect(await send(`http://registry.test:${plain.port}/a`)).toMatchObject({ status: 200 })
  expect(await send(`https://registry.test:${secure.port}/b`)).toMatchObject({ status: 200 })
  expect(proxy.asked).toEqual([
    `GET http://registry.test:${plain.port}/a`,
    `CONNECT registry.test:${secure.port}`,
  ])
  expect(await send(plain.url)).toMatchObject({ status: 200 })
  expect(proxy.asked).toHaveLength(2)
})

test('the registry’s certificate is checked even if the connection goes through a proxy', async () => {
  const { port } = await startServer(fine, testCertificates.wrongName)
  const proxy = await startProxy()
  const url = `https://registry.test:${port}`
  expect(await failureAt(url, { ...trusting, httpsProxy: proxy.url })).toMatchObject({
    code: 'tls_failed',
    reason: 'wrong_name',
  })
})

test.each([
  [407, 'auth'],
  [403, 'denied'],
  [502, 'answered'],
])('a %i response from the proxy is reported as a proxy failure', async (code, reason) => {
  const proxy = await startProxy({ status: code })
  const { host } = new URL(proxy.url)
  for (const url of ['http://registry.test', 'https://registry.test']) {
    const settings = { httpProxy: proxy.url, httpsProxy: proxy.url }
    expect(await failureAt(url, settings)).toEqual({ code: 'proxy_failed', reason, host })
  }
})

test('a response received through a proxy is not mistaken for a response from the proxy itself', async () => {
  const xml: Handler = (_, response) =>
    response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error/>')
  const plain = await startServer(xml)
  const secure = await startServer(xml, testCertificates.valid)
  const proxy = await startProxy()
  const network = openNetwork({
    ...directNetwork,
    ...trusting,
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
  })
  onTestFinished(() => network.destroy())
  for (const address of [
    `http://registry.test:${plain.port}/`,
    `https://registry.test:${secure.port}/`,
  ]) {
    const url = new URL(address)
    const { statusCode, headers } = await sendRequest(network, url, { method: 'GET' })
    const type = headers['content-type']?.toString()
    const asked = { url, proxy: network.findProxy(url) }
    expect(failureOfAnswer(asked, statusCode, type)).toBeUndefined()
  }
})

test('a proxy that does not respond causes a timeout', async () => {
  const silent = await startSilence()
  const proxy = `http://127.0.0.1:${silent.port}`
  const settings = { httpProxy: proxy, httpsProxy: proxy, timeouts: shortTimeouts }
  for (const url of ['http://registry.test', 'https://registry.test']) {
    expect(await failureAt(url, settings)).toMatchObject({ reason: 'timeout' })
  }
})

test('an unreachable proxy is reported as a proxy failure', async () => {
  const dead = `http://127.0.0.1:${await freePort()}`
  const lost = 'http://nobody.invalid:3128'
  const multicast = 'http://224.0.0.1:3128' // the system refuses the connection; nothing is sent
  for (const url of ['http://registry.test', 'https://registry.test']) {
    expect(await failureAt(url, { httpProxy: dead, httpsProxy: dead })).toEqual({
      code: 'proxy_failed',
      reason: 'refused',
      host: new URL(dead).host,
    })
    expect(await failureAt(url, { httpProxy: lost, httpsProxy: lost })).toMatchObject({
      code: 'proxy_failed',
      reason: 'dns',
    })
    expect(await failureAt(url, { httpProxy: multicast, httpsProxy: multicast })).toMatchObject({
      code: 'proxy_failed',
      reason: 'no_route',
    })
  }
})

test.each([
  ['self_signed', testCertificates.selfSigned],
  ['unknown_issuer', testCertificates.valid],
] as const)('a certificate is rejected with the reason %s', async (reason, certificate) => {
  const { port } = await startServer(fine, certificate)
  const host = `localhost:${port}`
  expect(await failureAt(`https://${host}`)).toEqual({ code: 'tls_failed', reason, host })
})

test.each([
  ['expired', testCertificates.expired],
  ['not_yet_valid', testCertificates.notYetValid],
  ['wrong_name', testCertificates.wrongName],
  ['self_signed', testCertificates.selfSigned],
] as const)(
  'a certificate from a known authority is rejected with the reason %s',
  async (reason, certificate) => {
    const { port } = await startServer(fine, certificate)
    const host = `localhost:${port}`
    expect(await failureAt(`https://${host}`, trusting)).toEqual({
      code: 'tls_failed',
      reason,
      host,
    })
  },
)

test('a private authority is trusted if it is configured', async () => {
  const { port } = await startServer(fine, testCertificates.valid)
  expect(await openTransport(trusting)(`https://localhost:${port}`)).toMatchObject({ status: 200 })
})

test('https to an http port and http to an https port are reported with their cause', async () => {
  const plain = await startServer(fine)
  const host = `localhost:${plain.port}`
  expect(await failureAt(`https://${host}`)).toEqual({
    code: 'tls_failed',
    reason: 'not_tls',
    host,
  })
  const secure = await startServer(fine, testCertificates.valid)
  const error = await failureAt(`http://localhost:${secure.port}`)
  // OpenSSL closes the connection or sends an alert, which is not HTTP.
  expect([`unreachable reset`, `not_a_registry not_http`]).toContain(
    `${error.code} ${error.reason}`,
  )
})

test('a TLS handshake failure not related to the certificate is reported with its cause', async () => {
  const { port } = await startServer(fine, testCertificates.valid, 0, { maxVersion: 'TLSv1.1' })
  const host = `localhost:${port}`
  const failure = await failureAt(`https://${host}`, trusting)
  expect(failure).toEqual({ code: 'tls_failed', reason: 'other', host })
})
