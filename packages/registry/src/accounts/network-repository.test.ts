import { expect, test, vi } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { networkRepository } from './network-repository.ts'

describeOnEachDatabase('the networks of an account', (start) => {
  test('are forgotten after 90 days without use, and at most 200 are kept', async () => {
    const registry = await start()
    await registry.register('ana')
    const { db } = await registry.connect()
    const ana = await db.selectFrom('account').selectAll().executeTakeFirstOrThrow()
    const networks = networkRepository(db, 'a key')
    const count = async () => (await db.selectFrom('account_network').selectAll().execute()).length
    expect(await count()).toBe(1) // the network from which the account was registered

    const setAge = (days: number) => {
      const last_signed_in_at = new Date(Date.now() - days * 86_400_000).toISOString()
      return db.updateTable('account_network').set({ last_signed_in_at }).execute()
    }
    await setAge(89)
    await networks.deleteOld()
    expect(await count()).toBe(1)
    await setAge(91)
    await networks.deleteOld()
    expect(await count()).toBe(0)

    const began = Date.now()
    try {
      for (let at = 0; at < 203; at += 1) {
        vi.setSystemTime(began + at * 1000)
        await networks.note(ana, `network ${at}`)
      }
    } finally {
      vi.useRealTimers()
    }
    expect(await count()).toBe(200)
    expect(await networks.isKnown('ana', 'network 2')).toBe(false)
    expect(await networks.isKnown('ana', 'network 3')).toBe(true)
  })

  test('are recorded at the next sign-in if the account was created before networks were recorded', async () => {
    const registry = await start({ trustProxy: 1 })
    await registry.register('ana')
    const { db } = await registry.connect()
    await db.deleteFrom('account_network').execute()
    const signIn = async (password: string) =>
      (
        await registry.post('/v1/auth/login', {
          headers: { 'x-forwarded-for': '203.0.113.5' },
          body: { username: 'ana', password },
        })
      ).status
    expect(await signIn('password of ana')).toBe(200)
    for (let at = 0; at < 6; at += 1) expect(await signIn(`guess ${at}`)).toBe(401)
    expect(await signIn('password of ana')).toBe(200)
  })
})
