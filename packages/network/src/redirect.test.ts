import { expect, test } from 'vitest'
import { testCertificates } from '../../../testing/tls-certificates/index.ts'
import {
  failureAt,
  fine,
  noRetry,
  openTransport,
  redirect,
  scripted,
  trusting,
} from './testing/scripted.ts'
import { startServer } from './testing/servers.ts'

test('a redirect to the same host and port is followed', async () => {
  const server = await scripted(redirect('/there', 301), fine)
  expect(await openTransport()(server.url)).toMatchObject({ status: 200 })
  expect(server.requests[1]?.url).toBe('/there')
})

test('a redirect from http to https on the same host is followed only without credentials', async () => {
  const secure = await startServer(fine, testCertificates.valid)
  const plain = await startServer(redirect(`https://localhost:${secure.port}/`))
  const url = `http://localhost:${plain.port}`
  expect(await openTransport(trusting)(url)).toMatchObject({ status: 200 })
  const signedIn = { ...noRetry, headers: { authorization: 'Bearer secret' } }
  expect(await failureAt(url, trusting, signedIn)).toMatchObject({
    code: 'redirect_refused',
    reason: 'moved',
  })
})

test.each<[string, string]>([
  ['other_host', 'http://elsewhere.invalid/'],
  ['other_host', 'file:///etc/passwd'],
  ['other_host', 'http://127.0.0.1:1/'],
  ['loop', '/'],
])('a redirect is refused with the reason %s if its location is %s', async (reason, location) => {
  const server = await scripted(redirect(location))
  const { host } = server
  expect(await failureAt(server.url)).toEqual({ code: 'redirect_refused', reason, host })
  expect(server.requests.length).toBeLessThan(8)
})

test('a redirect from https to http is never followed', async () => {
  const plain = await scripted(fine)
  const secure = await startServer(
    redirect(`http://localhost:${plain.port}/`),
    testCertificates.valid,
  )
  const host = `localhost:${secure.port}`
  expect(await failureAt(`https://${host}`, trusting)).toEqual({
    code: 'redirect_refused',
    reason: 'insecure',
    host,
  })
  expect(plain.requests).toEqual([])
})

test('a POST follows 307 and 308, and a 301 does not turn it into a GET', async () => {
  const call = { ...noRetry, method: 'POST', body: '{}' }
  for (const code of [307, 308]) {
    const same = await scripted(redirect('/there', code), fine)
    expect(await openTransport()(same.url, call)).toMatchObject({ status: 200 })
    expect(same.requests[1]?.method).toBe('POST')
  }
  const moved = await scripted(redirect('/there', 301), fine)
  expect(await failureAt(moved.url, {}, call)).toMatchObject({ reason: 'moved' })
  expect(moved.requests).toHaveLength(1)
})

test('credentials are forwarded only to the same origin', async () => {
  const first = await scripted(redirect('/there', 307), fine)
  await openTransport()(first.url, { headers: { authorization: 'Bearer secret' } })
  expect(first.requests[1]?.headers.authorization).toBe('Bearer secret')
  const elsewhere = await scripted(fine)
  const away = await scripted(redirect(`${elsewhere.url}/`))
  await failureAt(away.url, {}, { ...noRetry, headers: { authorization: 'Bearer secret' } })
  expect(elsewhere.requests).toEqual([])
})
