import type { ApiKey } from '@shoal/protocol'
import { expect, test } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'

describeOnEachDatabase("an account's API keys", (start) => {
  test('are limited to 100, even if many are created concurrently; expired keys are deleted to make room', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const make = (name: string) => registry.post('/v1/api-keys', { token, body: { name } })
    const list = async () => (await registry.get('/v1/api-keys', { token })).body as ApiKey[]
    for (let at = 0; at < 95; at += 1) expect((await make(`key ${at}`)).status).toBe(201)

    const racing = await Promise.all(Array.from({ length: 12 }, (_, at) => make(`racer ${at}`)))
    const refused = racing.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(7)
    expect(refused[0]?.body).toEqual({
      code: 'too_many_keys',
      detail: 'this account has 100 API keys, the maximum: revoke one first',
    })
    expect(await list()).toHaveLength(100)

    const [first, second] = await list()
    await registry.call('DELETE', `/v1/api-keys/${first?.id}`, { token })
    expect((await make('in its place')).status).toBe(201)
    expect((await make('one more')).status).toBe(409)
    const { db } = await registry.connect()
    const expires_at = new Date(Date.now() - 1_000).toISOString()
    await db
      .updateTable('api_key')
      .set({ expires_at })
      .where('id', '=', second?.id ?? '')
      .execute()
    expect((await make('in place of the expired one')).status).toBe(201)
    expect((await make('one more')).status).toBe(409)

    const ben = await registry.register('ben')
    const call = { token: ben, body: { name: 'of somebody else' } }
    expect((await registry.post('/v1/api-keys', call)).status).toBe(201)
  })
})
