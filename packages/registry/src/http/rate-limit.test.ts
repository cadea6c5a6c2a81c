import type { CreatedApiKey } from '@shoal/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import type { RateLimits } from '../config.ts'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

const ample = { max: 1_000, windowSeconds: 60 }
const limitsWith = (limits: Partial<RateLimits>): RateLimits => ({
  ...{ auth: ample, write: ample, read: ample, chunk: ample, tracker: ample },
  ...limits,
})
const from = (address: string) => ({ 'x-forwarded-for': address })

afterEach(() => void vi.useRealTimers())

describeApi('the rate limit for password guesses', { on: ['SQLite', 'three nodes'] }, (start) => {
  const guess = (registry: TestRegistry, at: number, call: { token?: string; address?: string }) =>
    registry.post('/v1/auth/login', {
      token: call.token,
      headers: from(call.address ?? '203.0.113.1'),
      body: { username: `somebody-${at}`, password: 'a guess' },
    })

  test('applies to a network, however many API keys its requests use', async () => {
    const auth = { max: 6, windowSeconds: 60 }
    const registry = await start({ trustProxy: 1, rateLimits: limitsWith({ auth }) })
    const session = await registry.register('ana')
    const keys = await Promise.all(
      Array.from({ length: 4 }, async (_, at) => {
        const call = { token: session, body: { name: `key ${at}` } }
        return ((await registry.post('/v1/api-keys', call)).body as CreatedApiKey).key
      }),
    )
    const statuses: number[] = []
    for (let at = 0; at < 12; at += 1) {
      const token = keys[at % keys.length] ?? ''
      statuses.push((await guess(registry, at, { token })).status)
    }
    expect(statuses.filter((status) => status !== 429)).toHaveLength(6)
    expect((await guess(registry, 12, { address: '203.0.113.1' })).status).toBe(429)
    expect((await guess(registry, 13, { address: '203.0.113.2' })).status).not.toBe(429)
  })

  test('applies to each /64 of IPv6 addresses', async () => {
    const auth = { max: 2, windowSeconds: 60 }
    const registry = await start({ trustProxy: 1, rateLimits: limitsWith({ auth }) })
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8::3:4', '2001:db8:0:1::1']
    const statuses: number[] = []
    for (const [at, address] of addresses.entries()) {
      statuses.push((await guess(registry, at, { address })).status)
    }
    expect(statuses).toEqual([401, 401, 429, 401])
  })

  test('includes password changes and registrations, and does not depend on the account', async () => {
    const auth = { max: 5, windowSeconds: 60 }
    const registry = await start({ trustProxy: 1, rateLimits: limitsWith({ auth }) })
    const tokens = [await registry.register('ana'), await registry.register('ben')] // from 127.0.0.1
    const headers = from('203.0.113.1')
    const statuses: number[] = []
    for (let at = 0; at < 4; at += 1) {
      const body = { current_password: `guess ${at}`, new_password: 'a better password' }
      const call = { token: tokens[at % 2], headers, body }
      statuses.push((await registry.call('PUT', '/v1/auth/password', call)).status)
    }
    for (const username of ['cleo', 'dora']) {
      const call = { headers, body: { username, password: 'long enough' } }
      statuses.push((await registry.post('/v1/auth/register', call)).status)
    }
    expect(statuses).toEqual([403, 403, 403, 403, 201, 429])
  })

  test('ends with its window, even if the system clock is set back', async () => {
    const read = { max: 1, windowSeconds: 3 }
    const registry = await start({ rateLimits: limitsWith({ read }) })
    expect((await registry.get('/v1/models')).status).toBe(200)
    vi.setSystemTime(Date.now() - 3_600_000)
    const limited = await registry.get('/v1/models')
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(3)
    await expect.poll(async () => (await registry.get('/v1/models')).status).toBe(200)
  })
})
