import { expect, test } from 'vitest'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

describeOnEachDatabase("the registry's own account", (start) => {
  const owner = async (registry: TestRegistry, token: string) =>
    ((await registry.get('/v1/auth/me', { token })).body as { username: string }).username
  const register = (registry: TestRegistry, username: string) =>
    registry.post('/v1/auth/register', { body: { username, password: 'long enough' } })

  /** Creates users with these usernames, which version 0.1 allowed users to register. */
  async function nameThem(registry: TestRegistry, names: string[]) {
    const { db } = await registry.connect()
    for (const [at, username] of names.entries()) {
      await register(registry, `person-${at}`)
      await db
        .updateTable('account')
        .set({ username })
        .where('username', '=', `person-${at}`)
        .execute()
    }
  }

  test('reserves its usernames and a few others', async () => {
    const registry = await start()
    for (const username of ['shoal', 'shoal-system', 'system', 'anonymous', 'me']) {
      const { status, body } = await register(registry, username)
      expect(status).toBe(409)
      expect(body).toEqual({
        code: 'username_reserved',
        detail: `the username ${username} is reserved: choose another one`,
      })
    }
    expect(await owner(registry, await registry.systemToken())).toBe('shoal')
    expect((await register(registry, 'admin')).status).toBe(201)
  })

  test('has another username if a user is called shoal, and keeps that other username after a restart', async () => {
    const registry = await start()
    await nameThem(registry, ['shoal'])
    const token = await registry.systemToken()
    expect(await owner(registry, token)).toBe('shoal-system')
    const created = await registry.post('/v1/models', { token, body: { name: 'demo' } })
    expect(created.status).toBe(201)
    await registry.restart()
    expect(await owner(registry, await registry.systemToken())).toBe('shoal-system')
    const credentials = { username: 'shoal', password: 'long enough' }
    const person = await registry.post('/v1/auth/login', { body: credentials })
    expect(person.status).toBe(200)
  })

  test('gets a free username if the first two are taken, and is created only once by concurrent calls', async () => {
    const registry = await start()
    await nameThem(registry, ['shoal', 'shoal-system'])
    const tokens = await Promise.all(Array.from({ length: 5 }, () => registry.systemToken()))
    const owners = await Promise.all(tokens.map((token) => owner(registry, token)))
    expect(new Set(owners)).toEqual(new Set(['shoal-system-2']))
  })
})
