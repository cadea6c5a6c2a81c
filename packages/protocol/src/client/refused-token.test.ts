import { expect, test } from 'vitest'
import { registryClient } from './registry-client.ts'
import type { ApiRequest } from './transport.ts'

/** A client with a revoked token, and the requests that it has sent to a registry with the public model `tide`. */
function makeClient() {
  const asked: string[] = []
  let reports = 0
  const client = registryClient({
    baseUrl: 'http://localhost',
    token: 'revoked',
    onTokenRefused() {
      reports += 1
    },
    async transport({ method, url, headers: { authorization } }: ApiRequest) {
      const call = `${method} ${new URL(url).pathname}`
      asked.push(authorization ? `${call} with a token` : call)
      return answer(call, authorization)
    },
  })
  return { client, asked, countReports: () => reports }
}

function answer(call: string, authorization: string | undefined) {
  const [status, body] = authorization
    ? [401, { detail: 'this token is revoked' }]
    : call === 'GET /v1/models/tide'
      ? [200, { name: 'tide' }]
      : call.startsWith('GET')
        ? [404, { detail: 'no model secret' }]
        : [401, { detail: 'wrong username or password' }]
  return { status, headers: new Headers(), body: new TextEncoder().encode(JSON.stringify(body)) }
}

test('after the registry has refused the token once, public reads continue without it', async () => {
  const { client, asked, countReports } = makeClient()
  expect(await client.getModel('tide')).toEqual({ name: 'tide' })
  expect(await client.with({ maxWaits: 0 }).getModel('tide')).toEqual({ name: 'tide' })
  const read = 'GET /v1/models/tide'
  expect(asked).toEqual([`${read} with a token`, read, read])
  expect(countReports()).toBe(1)
})

test('a request that needs a token fails because of the refused token', async () => {
  const { client, countReports } = makeClient()
  await expect(client.getModel('secret')).rejects.toThrow('this token is revoked')
  await expect(client.setLike('tide', true)).rejects.toThrow('this token is revoked')
  expect(countReports()).toBe(0)
})

test('signing in and registering send no token', async () => {
  const { client, asked } = makeClient()
  const account = { username: 'ana', password: 'wrong' }
  await expect(client.login(account)).rejects.toThrow('wrong username or password')
  await expect(client.register(account)).rejects.toThrow('wrong username or password')
  expect(asked).toEqual(['POST /v1/auth/login', 'POST /v1/auth/register'])
})
