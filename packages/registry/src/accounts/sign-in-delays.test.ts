import { hasCode } from '@shoal/core/errors'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'
import { signInDelays } from './sign-in-delays.ts'

describeOnEachDatabase('guessing the password of one account', (start) => {
  let registry: TestRegistry
  /** A network that no account has used. */
  let strangers = 0
  const stranger = () => {
    strangers += 1
    return `198.51.100.${strangers}`
  }

  const signIn = (username: string, password: string, address: string) =>
    registry.post('/v1/auth/login', {
      headers: { 'x-forwarded-for': `192.0.2.66, ${address}` },
      body: { username, password },
    })
  /** An account that has only used the network of 203.0.113.5. */
  const register = async (username: string): Promise<string> => {
    const { body } = await registry.post('/v1/auth/register', {
      headers: { 'x-forwarded-for': '203.0.113.5' },
      body: { username, password: `password of ${username}` },
    })
    return (body as { access_token: string }).access_token
  }
  const guess = async (username: string, times: number, address?: string) => {
    const statuses: number[] = []
    for (let at = 0; at < times; at += 1) {
      const { status } = await signIn(username, `guess ${at}`, address ?? stranger())
      statuses.push(status)
    }
    return statuses
  }

  // no rate limits: the delays protect accounts, and work without them
  beforeAll(async () => {
    registry = await start({ trustProxy: true, rateLimits: undefined })
    await registry.register('root') // the first account is created on this machine
  })

  test('delays unknown networks, each separately, and accepts the right password after the wait', async () => {
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
    await expect
      .poll(async () => (await signIn('ana', 'password of ana', address)).status)
      .toBe(200)
    await guess('ana', 1)
    expect((await signIn('ana', 'password of ana', address)).status).toBe(200) // a known one from now on
  })

  test('never delays the networks, sessions and keys of the account', async () => {
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

  test('treats a username without an account the same', async () => {
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

  test('counts attempts in progress, so that concurrent attempts gain nothing', async () => {
    await register('dora')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => signIn('dora', `guess ${at}`, stranger())),
    )
    const tried = answers.filter(({ status }) => status === 401)
    expect(tried).toHaveLength(4)
  })

  test('counts wrong current passwords of a session too', async () => {
    const token = await register('emil')
    for (let at = 0; at < 4; at += 1) {
      const change = { current_password: `guess ${at}`, new_password: 'a better password' }
      const { status } = await registry.call('PUT', '/v1/auth/password', { token, body: change })
      expect(status).toBe(403)
    }
    expect(await guess('emil', 1)).toEqual([429])
  })

  test('delays a network again that has not been used for 90 days; the hourly cleanup deletes it', async () => {
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
    await setAge(-1) // recorded before the clock was set back
    expect((await signIn('fay', 'password of fay', '203.0.113.5')).status).toBe(200)
  })

  test('recognizes the /64 of an IPv6 address, and gives a /48 a single wait', async () => {
    const { status } = await registry.post('/v1/auth/register', {
      headers: { 'x-forwarded-for': '2001:db8:1:1::1' },
      body: { username: 'gus', password: 'password of gus' },
    })
    expect(status).toBe(201)
    await guess('gus', 5)
    expect((await signIn('gus', 'password of gus', '2001:db8:1:1::99')).status).toBe(200)
    expect((await signIn('gus', 'a guess', '2001:db8:1:2::1')).status).toBe(429)
    await expect
      .poll(async () => (await signIn('gus', 'a guess', '2001:db8:1:3::1')).status)
      .toBe(401)
  })

  test('from so many places that hashing has a queue keeps known networks at its front', async () => {
    await register('ida')
    let isDone = false
    let isFull = false
    let guesses = 0
    let hashed = 0
    const guessers = Array.from({ length: 120 }, async () => {
      while (!isDone) {
        guesses += 1
        const { status } = await signIn(`nobody-${guesses}`, 'a guess', '192.0.2.7')
        if (status === 401) hashed += 1
        else isFull = true
      }
    })
    await expect.poll(() => isFull, { interval: 5 }).toBe(true)
    const before = hashed
    expect((await signIn('ida', 'password of ida', '203.0.113.5')).status).toBe(200)
    const meanwhile = hashed - before
    isDone = true
    await Promise.all(guessers)
    expect(meanwhile).toBeLessThan(50) // not after the 100 that were in the queue
  })

  test('does not depend on a clock that can be set', async () => {
    await register('hal')
    await guess('hal', 5)
    vi.setSystemTime(Date.now() - 3_600_000)
    try {
      const address = stranger()
      const { headers } = await signIn('hal', 'password of hal', address)
      expect(headers.get('retry-after')).toBe('1')
      await expect
        .poll(async () => (await signIn('hal', 'password of hal', address)).status)
        .toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('the delay before an attempt', () => {
  function delays() {
    let time = 0
    const { begin } = signInDelays(() => time)
    return {
      passes: (seconds: number) => {
        time += seconds * 1000
      },
      /** 0, or the seconds to wait. */
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

  test('doubles with each failure, from 1 s to 30 s, and ends minutes after the last', () => {
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

  test('is one wait per network and attempt, and counts down', () => {
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

  test('keeps a bounded number of waits, and refuses others for 30 s', () => {
    const { passes, ...attempt } = delays()
    for (let at = 0; at < 4; at += 1) attempt.try('ana', 'a')
    const waits = Array.from({ length: 101 }, (_, at) => attempt.try('ana', `network ${at}`))
    expect(waits).toEqual([...Array(100).fill(1), 30])
    expect(attempt.try('ben', 'b')).toBe(0)
    passes(120)
    expect(attempt.try('ana', 'network 100')).toBeLessThan(2)
  })
})
