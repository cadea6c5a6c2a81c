import type { Session, SignedIn } from '@shoal/protocol'
import { expect, test } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { accountRepository } from './account-repository.ts'
import { apiKeyRepository } from './api-key-repository.ts'
import type { Caller } from './caller.ts'
import { networkRepository } from './network-repository.ts'
import { sessionRepository } from './session-repository.ts'
import { hashToken } from './tokens.ts'

describeOnEachDatabase("an account's sessions", (start) => {
  test('are limited to 500: another sign-in ends the oldest session, never the new one', async () => {
    const registry = await start()
    const first = await registry.register('ana')
    const ben = await registry.register('ben')
    const { db } = await registry.connect()
    const { id: account_id } = await db
      .selectFrom('account')
      .select('id')
      .where('username', '=', 'ana')
      .executeTakeFirstOrThrow()
    const add = (from: number, to: number, began: number) => {
      const rows = Array.from({ length: to - from }, (_, at) => ({
        id: crypto.randomUUID(),
        account_id,
        token_hash: hashToken(`session ${from + at}`),
        user_agent: null,
        created_at: new Date(began + at).toISOString(),
        last_used_at: null,
        expires_at: new Date(began + 86_400_000).toISOString(),
      }))
      return db.insertInto('session').values(rows).execute()
    }
    const signIn = async () => {
      const body = { username: 'ana', password: 'password of ana' }
      return ((await registry.post('/v1/auth/login', { body })).body as SignedIn).access_token
    }
    const count = async (token: string) =>
      ((await registry.get('/v1/auth/sessions', { token })).body as Session[]).length
    const getStatus = async (token: string) => (await registry.get('/v1/auth/me', { token })).status

    await add(0, 498, Date.now() + 600_000)
    const second = await signIn()
    expect(await count(second)).toBe(500)
    expect(await getStatus(first)).toBe(200)
    const third = await signIn()
    expect(await count(third)).toBe(500)
    expect([await getStatus(first), await getStatus(second)]).toEqual([401, 200])

    await add(498, 600, Date.now() + 3_600_000) // an hour in the future, as if the clock had since been set back
    const last = await signIn()
    expect(await getStatus(last)).toBe(200)
    expect(await count(last)).toBe(501)
    expect(await getStatus(ben)).toBe(200)
  })

  test('cannot be created after a password reset by requests that began before it, and neither can API keys', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const { db } = await registry.connect()
    const accounts = accountRepository(db)
    const verified = await accounts.find('ana')
    if (!verified) throw new Error('there is no account')
    const digest = hashToken(token)
    const session = db.selectFrom('session').select('id').where('token_hash', '=', digest)
    const { id } = await session.executeTakeFirstOrThrow()
    await accounts.resetPassword(verified.id, 'another hash', async () => undefined)

    const refused = { code: 'unauthenticated' }
    await expect(sessionRepository(db).create(verified, null)).rejects.toMatchObject(refused)
    await networkRepository(db, 'key').note(verified, 'a network')
    expect(await networkRepository(db, 'key').isKnown('ana', 'a network')).toBe(false)
    const caller: Caller = {
      accountId: verified.id,
      username: 'ana',
      isAdmin: true,
      credential: { kind: 'session', id, scopes: [] },
    }
    const key = { name: 'laptop', scopes: [], expiresAt: null }
    await expect(apiKeyRepository(db).create(caller, key)).rejects.toMatchObject(refused)
  })
})
