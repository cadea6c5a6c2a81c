import type { ModelRecord } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { publish, smallGguf } from '../testing/publish.ts'
import { describeApi, everywhere, type TestRegistry } from '../testing/test-registry.ts'

const rounds = 5

describeApi('concurrent requests for a model', { on: everywhere }, (start) => {
  let registry: TestRegistry
  let ana: string

  const create = (name: string) => registry.post('/v1/models', { token: ana, body: { name } })
  const change = (name: string, body: object) =>
    registry.call('PATCH', `/v1/models/${name}`, { token: ana, body })

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
  })

  test('facts set by hand in two concurrent changes are both kept when a file becomes ready', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `by-hand-${round}`
      await create(name)
      await Promise.all([
        change(name, { architecture: 'mine' }),
        change(name, { context_length: 77 }),
      ])
      await publish(registry, ana, { name }, 'tide-F32.gguf', smallGguf(1))
      const { body }: { body: ModelRecord } = await registry.get(`/v1/models/${name}`)
      expect(body).toMatchObject({
        architecture: 'mine',
        context_length: 77,
        parameter_count: 64,
      })
    }
  })

  test('if four models are renamed to the same name, one succeeds and the others get 409', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const names = ['a', 'b', 'c', 'd'].map((letter) => `${letter}-${round}`)
      await Promise.all(names.map(create))
      const wanted = { name: `wanted-${round}` }
      const answers = await Promise.all(names.map((name) => change(name, wanted)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
      const refused = answers.find(({ status }) => status === 409)
      expect(refused?.body).toEqual({
        detail: `the name ${wanted.name} is taken`,
        code: 'name_taken',
      })
    }
  })

  test('of two concurrent deletions, one gets 204 and the other 404, and the model is gone afterwards', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `going-${round}`
      await create(name)
      const path = `/v1/models/${name}`
      const [deleted, deletedAgain, ...others] = await Promise.all([
        registry.call('DELETE', path, { token: ana }),
        registry.call('DELETE', path, { token: ana }),
        registry.post(`${path}/like`, { token: ana }),
        registry.call('PUT', `${path}/like`, { token: ana, body: { liked: true } }),
        change(name, { description: 'still here?', tags: ['sea'], readme: 'still here?' }),
        change(name, { architecture: null }),
      ])
      expect([deleted?.status, deletedAgain?.status].sort()).toEqual([204, 404])
      for (const { status } of others) expect([200, 204, 404]).toContain(status)
      expect((await registry.get(path)).status).toBe(404)
    }
  })
})
