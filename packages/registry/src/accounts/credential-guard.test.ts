import { movedClock } from '@shoal/core/testing'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

const ample = { max: 10_000, windowSeconds: 60 }
const limitsWith = (auth: { max: number; windowSeconds: number }) => ({
  ...{ auth, write: ample, read: ample, chunk: ample, tracker: ample },
})

let made = 0
/** Returns a string in the format of a token that does not exist. */
function unknownToken(prefix = 'hf_'): string {
  made += 1
  return prefix + String(made).padStart(43, 'x')
}

describeApi('unknown credentials', { on: ['SQLite'] }, (start) => {
  const ask = (registry: TestRegistry, token: string, address = '203.0.113.9') =>
    registry.get('/v1/models', { token, headers: { 'x-forwarded-for': address } })
  const askWithCookie = (registry: TestRegistry, token: string) =>
    registry.get('/v1/models', {
      headers: { cookie: `shoal_session=${token}`, 'x-forwarded-for': '203.0.113.9' },
    })

  /** Renames the credential tables during `work`, so that every credential lookup fails. */
  async function withoutCredentialTables(registry: TestRegistry, work: () => Promise<void>) {
    const { db } = await registry.connect()
    for (const table of ['session', 'api_key']) {
      await sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_away`)}`.execute(db)
    }
    try {
      await work()
    } finally {
      for (const table of ['session', 'api_key']) {
        await sql`alter table ${sql.table(`${table}_away`)} rename to ${sql.table(table)}`.execute(
          db,
        )
      }
    }
  }

  test("above a network's limit do not reach the database, and do not affect valid credentials", async () => {
    const rateLimits = limitsWith({ max: 5, windowSeconds: 600 })
    const registry = await start({ trustProxy: 1, rateLimits })
    const session = await registry.register('ana')
    const made = await registry.post('/v1/api-keys', { token: session, body: { name: 'laptop' } })
    const { key } = made.body as { key: string }
    const staleCookie = unknownToken('shs_')
    expect((await askWithCookie(registry, staleCookie)).status).toBe(200)
    for (let at = 0; at < 4; at += 1) {
      expect((await ask(registry, unknownToken())).status).toBe(401)
    }

    await withoutCredentialTables(registry, async () => {
      for (const prefix of ['hf_', 'shs_']) {
        const { status, headers, body } = await ask(registry, unknownToken(prefix))
        expect(status).toBe(429)
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        expect(body).toEqual({
          code: 'rate_limited',
          detail: expect.stringMatching(
            /^your network has sent too many unknown tokens: try again/,
          ),
        })
      }
      expect((await askWithCookie(registry, unknownToken('shs_'))).status).toBe(429)
      expect((await askWithCookie(registry, staleCookie)).status).toBe(200) // as an anonymous request
      const other = await ask(registry, unknownToken(), '203.0.113.10')
      expect(other.status).toBe(500) // this network is below its limit, so the token is looked up, and that fails
    })
    // The session and the key were recorded as valid when they were created, so they are looked up even though this
    // network has exceeded its limit and has not used them before.
    expect((await ask(registry, session)).status).toBe(200)
    expect((await ask(registry, key)).status).toBe(200)
    expect((await askWithCookie(registry, session)).status).toBe(200)
    const stranger = { headers: { 'x-forwarded-for': '203.0.113.9' } }
    expect((await registry.get('/v1/models', stranger)).status).toBe(200)

    const { id } = made.body as { id: string }
    await registry.call('DELETE', `/v1/api-keys/${id}`, { token: session })
    expect((await ask(registry, key)).status).toBe(401) // the revocation takes effect immediately
  })

  test('are looked up again when the window has ended', async () => {
    const clock = movedClock()
    const rateLimits = limitsWith({ max: 2, windowSeconds: 60 })
    const registry = await start({ trustProxy: 1, rateLimits, clock })
    const statuses: number[] = []
    for (let at = 0; at < 3; at += 1) {
      statuses.push((await ask(registry, unknownToken())).status)
    }
    expect(statuses).toEqual([401, 401, 429])
    clock.advance(60_000)
    expect((await ask(registry, unknownToken())).status).toBe(401)
  })

  test('count at most once a minute each, however often they are sent', async () => {
    const rateLimits = limitsWith({ max: 2, windowSeconds: 600 })
    const registry = await start({ trustProxy: 1, rateLimits })
    const forgotten = unknownToken()
    expect((await ask(registry, forgotten)).status).toBe(401)
    await withoutCredentialTables(registry, async () => {
      for (let at = 0; at < 20; at += 1) expect((await ask(registry, forgotten)).status).toBe(401)
    })
    expect((await ask(registry, unknownToken())).status).toBe(401)
    expect((await ask(registry, unknownToken())).status).toBe(429)
  })

  test('cause a limited number of lookups if many are sent concurrently', async () => {
    const rateLimits = limitsWith({ max: 5, windowSeconds: 600 })
    const registry = await start({ trustProxy: 1, rateLimits })
    const answers = await Promise.all(
      Array.from({ length: 300 }, () => ask(registry, unknownToken())),
    )
    const lookups = answers.filter(({ status }) => status === 401).length
    expect(lookups).toBeGreaterThanOrEqual(5)
    expect(lookups).toBeLessThanOrEqual(105)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(300 - lookups)
  })

  test('are all accepted if they are valid, even if many arrive concurrently after a restart', async () => {
    const rateLimits = limitsWith({ max: 5, windowSeconds: 600 })
    const registry = await start({ trustProxy: 1, rateLimits })
    const session = await registry.register('ana')
    const keys = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const call = { token: session, body: { name: `key ${at}` } }
        return ((await registry.post('/v1/api-keys', call)).body as { key: string }).key
      }),
    )
    await registry.restart()
    const answers = await Promise.all(keys.map((key) => ask(registry, key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })
})
