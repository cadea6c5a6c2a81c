import { expect, test } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { openAdmin } from './admin.ts'

describeOnEachDatabase('resetting a password', (start) => {
  test("immediately ends the account's sessions, revokes its API keys and forgets its networks", async () => {
    const registry = await start()
    const makeKey = async (token: string, body: object) => {
      const answer = await registry.post('/v1/api-keys', { token, body })
      return (answer.body as { key: string }).key
    }
    const session = await registry.register('ana')
    const forever = await makeKey(session, { name: 'forever' })
    const brief = await makeKey(session, { name: 'brief', expires_at: '2127-01-01T00:00:00Z' })
    const expired = { name: 'expired', expires_at: new Date(Date.now() + 150).toISOString() }
    await makeKey(session, expired)
    const others = [await registry.register('ben')]
    others.push(await makeKey(others[0] ?? '', { name: 'of ben' }))
    const getStatus = async (token: string) => (await registry.get('/v1/auth/me', { token })).status
    for (const token of [session, forever, brief, ...others]) {
      expect(await getStatus(token)).toBe(200)
    }
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(expired.expires_at))

    const admin = await openAdmin(registry.config)
    const { password, ...ended } = await admin.users.resetPassword('ana').finally(admin.close)
    expect(ended).toEqual({ sessions_ended: 1, keys_revoked: 2 })
    for (const token of [session, forever, brief]) expect(await getStatus(token)).toBe(401)
    for (const token of others) expect(await getStatus(token)).toBe(200)

    const { db } = await registry.connect()
    const ana = await db
      .selectFrom('account')
      .select('id')
      .where('username', '=', 'ana')
      .executeTakeFirstOrThrow()
    for (const table of ['api_key', 'session', 'account_network'] as const) {
      const rows = db.selectFrom(table).select('account_id').where('account_id', '=', ana.id)
      expect(await rows.execute()).toEqual([])
    }
    const login = (word: string) =>
      registry.post('/v1/auth/login', { body: { username: 'ana', password: word } })
    expect((await login('password of ana')).status).toBe(401)
    expect((await login(password)).status).toBe(200)
  })

  test('differs from changing one’s own password, which does not revoke API keys', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const { body } = await registry.post('/v1/api-keys', { token, body: { name: 'laptop' } })
    const change = { current_password: 'password of ana', new_password: 'a better password' }
    const changed = await registry.call('PUT', '/v1/auth/password', { token, body: change })
    expect(changed.status).toBe(204)
    const { key } = body as { key: string }
    expect((await registry.get('/v1/auth/me', { token: key })).status).toBe(200)
  })
})
