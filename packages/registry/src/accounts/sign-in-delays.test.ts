import { hasCode } from '@shoal/core/errors'
import { movedClock } from '@shoal/core/testing'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { recommendedCost } from '../settings/password-cost.ts'
import {
  describeOnEachDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../testing/test-registry.ts'
import { signInDelays } from './sign-in-delays.ts'

function signInAt(
  registry: TestRegistry,
  { address, ...body }: { username: string; password: string; address: string },
) {
  const headers = { 'x-forwarded-for': `192.0.2.66, ${address}` }
  return registry.post('/v1/auth/login', { headers, body })
}

/** Creates an account that has used only the network 203.0.113.5. Returns a session token. */
async function registerAt(registry: TestRegistry, username: string): Promise<string> {
  const { body } = await registry.post('/v1/auth/register', {
    headers: { 'x-forwarded-for': '203.0.113.5' },
    body: { username, password: `password of ${username}` },
  })
  return (body as { access_token: string }).access_token
}

describeOnEachDatabase('guessing the password of one account', (start) => {
  const clock = movedClock()
  let registry: TestRegistry
  let strangers = 0
  /** Returns the address of a network that no account has used. */
  const stranger = () => {
    strangers += 1
    return `198.51.100.${strangers}`
  }

  const signIn = (username: string, password: string, address: string) =>
    signInAt(registry, { username, password, address })
  const register = (username: string) => registerAt(registry, username)
  const guess = async (username: string, times: number, address?: string) => {
    const statuses: number[] = []
    for (let at = 0; at < times; at += 1) {
      const { status } = await signIn(username, `guess ${at}`, address ?? stranger())
      statuses.push(status)
    }
    return statuses
  }

  // Rate limits are off, because the delays must protect accounts on their own.
  beforeAll(async () => {
    registry = await start({ trustProxy: 1, rateLimits: undefined, clock })
    await registry.register('root') // the first account is created on this machine
  })

  test('is delayed separately for each unknown network; the correct password is accepted after the wait', async () => {
    await register('ana')
    expect(await guess('ana', 6)).toEqual([401, 401, 401, 401, 429, 429])
    const address = stranger()
    const slowed = await signIn('ana', 'password of ana', address)
    expect(slowed.status).toBe(429)
    expect(slowed.headers.get('retry-after')).toBe('1')
    expect(slowed.body).toEqual({
      code: 'rate_limited',
      detail: 'many sign-ins with this username have failed: try again in 1 s',
    })
    clock.advance(999)
    expect((await signIn('ana', 'password of ana', address)).status).toBe(429)
    clock.advance(1)
    expect((await signIn('ana', 'password of ana', address)).status).toBe(200)
    await guess('ana', 1)
    expect((await signIn('ana', 'password of ana', address)).status).toBe(200) // the network is known from now on
  })

  test("never delays the account's own networks, sessions or API keys", async () => {
    const token = await register('ben')
    const { body } = await registry.post('/v1/api-keys', { token, body: { name: 'laptop' } })
    const { key } = body as { key: string }
    await guess('ben', 6)
    expect(await guess('ben', 12, '203.0.113.5')).toEqual(Array(12).fill(401))
    expect((await signIn('ben', 'password of ben', '203.0.113.5')).status).toBe(200)
    expect((await signIn('ben', 'password of ben', stranger())).status).toBe(429)
    expect((await registry.get('/v1/auth/me', { token })).status).toBe(200)
    expect((await registry.get('/v1/auth/me', { token: key })).status).toBe(200)
    const change = { current_password: 'password of ben', new_password: 'a better password' }
    const changed = await registry.call('PUT', '/v1/auth/password', { token, body: change })
    expect(changed.status).toBe(204)
  })

  test('is delayed in the same way if the username has no account', async () => {
    await register('cleo')
    const ask = async (username: string) => {
      const address = stranger()
      const answers: { status: number; retryAfter: string | null; text: string }[] = []
      for (let at = 0; at < 5; at += 1) {
        const { status, headers, text } = await signIn(username, 'a guess', address)
        answers.push({ status, retryAfter: headers.get('retry-after'), text })
      }
      return answers
    }
    expect(await ask('nobody')).toEqual(await ask('cleo'))
  })

  test('is delayed even with concurrent attempts, because attempts in progress count', async () => {
    await register('dora')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => signIn('dora', `guess ${at}`, stranger())),
    )
    const tried = answers.filter(({ status }) => status === 401)
    expect(tried).toHaveLength(4)
  })

  test('is also delayed after wrong current passwords that were sent with a session', async () => {
    const token = await register('emil')
    for (let at = 0; at < 4; at += 1) {
      const change = { current_password: `guess ${at}`, new_password: 'a better password' }
      const { status } = await registry.call('PUT', '/v1/auth/password', { token, body: change })
      expect(status).toBe(403)
    }
    expect(await guess('emil', 1)).toEqual([429])
  })

  test('is delayed again from a network that the account has not used for 90 days', async () => {
    await register('fay')
    const { db } = await registry.connect()
    const account = await db
      .selectFrom('account')
      .select('id')
      .where('username', '=', 'fay')
      .executeTakeFirstOrThrow()
    const known = db.selectFrom('account_network').selectAll().where('account_id', '=', account.id)
    const [row] = await known.execute()
    expect(Buffer.from(row?.network_hash ?? []).toString('latin1')).not.toContain('203.0.113.5')

    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const setAge = (days: number) =>
      db
        .updateTable('account_network')
        .set({ last_signed_in_at: daysAgo(days) })
        .where('account_id', '=', account.id)
        .execute()
    await setAge(89)
    await guess('fay', 5)
    expect((await signIn('fay', 'a guess', '203.0.113.5')).status).toBe(401)
    await setAge(91)
    expect((await signIn('fay', 'password of fay', '203.0.113.5')).status).toBe(429)
    await setAge(-1) // a sign-in in the future, as if the clock had since been set back
    expect((await signIn('fay', 'password of fay', '203.0.113.5')).status).toBe(200)
  })

  test("is not delayed from the account's own IPv6 /64, and all networks in a /48 share one wait", async () => {
    const { status } = await registry.post('/v1/auth/register', {
      headers: { 'x-forwarded-for': '2001:db8:1:1::1' },
      body: { username: 'gus', password: 'password of gus' },
    })
    expect(status).toBe(201)
    await guess('gus', 5)
    expect((await signIn('gus', 'password of gus', '2001:db8:1:1::99')).status).toBe(200)
    expect((await signIn('gus', 'a guess', '2001:db8:1:2::1')).status).toBe(429)
    clock.advance(1_000)
    expect((await signIn('gus', 'a guess', '2001:db8:1:3::1')).status).toBe(401)
  })

  test('is delayed for the same time even if the system clock is changed', async () => {
    await register('hal')
    await guess('hal', 5)
    vi.setSystemTime(Date.now() - 3_600_000)
    try {
      const address = stranger()
      const { headers } = await signIn('hal', 'password of hal', address)
      expect(headers.get('retry-after')).toBe('1')
      clock.advance(1_000)
      expect((await signIn('hal', 'password of hal', address)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })
})

test('guesses that fill the hashing queue do not delay sign-ins from known networks', async () => {
  const settings = { trustProxy: 1, passwordCost: recommendedCost }
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.close())
  await registry.register('root') // the first account is created on this machine
  await registerAt(registry, 'ida')
  let isDone = false
  let isFull = false
  let guesses = 0
  let hashed = 0
  const guessers = Array.from({ length: 120 }, async () => {
    while (!isDone) {
      guesses += 1
      const guess = { username: `nobody-${guesses}`, password: 'a guess', address: '192.0.2.7' }
      const { status } = await signInAt(registry, guess)
      if (status === 401) hashed += 1
      else isFull = true
    }
  })
  await expect.poll(() => isFull, { interval: 5 }).toBe(true)
  const before = hashed
  const right = { username: 'ida', password: 'password of ida', address: '203.0.113.5' }
  expect((await signInAt(registry, right)).status).toBe(200)
  const meanwhile = hashed - before
  isDone = true
  await Promise.all(guessers)
  expect(meanwhile).toBeLessThan(50) // so the sign-in did not wait for the 100 guesses in the queue
})

describe('the delay before an attempt', () => {
  function delays() {
    const clock = movedClock()
    const { begin } = signInDelays(clock)
    return {
      passes: (seconds: number) => clock.advance(seconds * 1000),
      /** Returns the number of seconds to wait; 0 if the attempt is allowed. */
      try(username: string, network: string): number {
        try {
          begin(username, network)
          return 0
        } catch (error) {
          if (hasCode(error, 'busy')) return error.details.retryAfterSeconds ?? 0
          throw error
        }
      },
    }
  }

  test('doubles with each failure, from 1 s to 30 s, and ends within 17 minutes of the last failure', () => {
    const { passes, ...attempt } = delays()
    const waits: number[] = []
    for (let at = 0; at < 12; at += 1) {
      const wait = attempt.try('ana', `network ${at}`)
      waits.push(wait)
      passes(wait)
      if (wait > 0) expect(attempt.try('ana', `network ${at}`)).toBe(0)
    }
    expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30])
    passes(17 * 60)
    expect(attempt.try('ana', 'another network')).toBe(0)
  })

  test('applies to each network and each attempt separately, and counts down', () => {
    const { passes, ...attempt } = delays()
    for (let at = 0; at < 4; at += 1) attempt.try('ana', 'a')
    for (const wait of [1, 2, 4]) {
      expect(attempt.try('ana', 'a')).toBe(wait)
      passes(wait)
      expect(attempt.try('ana', 'a')).toBe(0)
    }
    expect(attempt.try('ana', 'b')).toBe(8)
    passes(5)
    expect(attempt.try('ana', 'b')).toBe(3)
    passes(3)
    expect([attempt.try('ana', 'b'), attempt.try('ana', 'b')]).toEqual([0, 16])
    expect(attempt.try('ben', 'b')).toBe(0)
  })

  test('is remembered for a limited number of networks; others are refused for 30 s', () => {
    const { passes, ...attempt } = delays()
    for (let at = 0; at < 4; at += 1) attempt.try('ana', 'a')
    const waits = Array.from({ length: 101 }, (_, at) => attempt.try('ana', `network ${at}`))
    expect(waits).toEqual([...Array(100).fill(1), 30])
    expect(attempt.try('ben', 'b')).toBe(0)
    passes(120)
    expect(attempt.try('ana', 'network 100')).toBeLessThan(2)
  })
})
