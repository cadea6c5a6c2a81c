import type { ModelChanges, NewModel } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { anonymous } from '../accounts/caller.ts'
import { hostActor } from '../audit/actor.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { type ModelRepository, modelRepository } from './model-repository.ts'

/** Fields that a caller must not be able to set, even if the validation of the body accepts them. */
const notTheirs = {
  id: 'x',
  seq: 5,
  owner: 'ben',
  likes: 999,
  downloads: 5_000,
  visibility_version: 77,
  set_by_hand: '["architecture"]',
  files_count: 9,
  created_at: '2001-01-01T00:00:00.000Z',
}

describeOnEachDatabase('the model repository', (start) => {
  let models: ModelRepository

  beforeAll(async () => {
    const registry = await start()
    await registry.register('ana')
    await registry.register('ben')
    const { db } = await registry.connect()
    models = modelRepository(db)
  })

  test('writes only known fields', async () => {
    const body = { name: 'tide', license: 'mit' }
    const created = await models.create('ana', { ...body, ...notTheirs } as NewModel)
    expect(created).toMatchObject({ ...body, owner: 'ana', likes: 0, downloads: 0 })
    const changes = { description: 'changed', ...notTheirs } as ModelChanges
    const { updated_at, ...changed } = await models.update(created.id, changes, hostActor)
    const { updated_at: _, ...before } = created
    expect(changed).toEqual({ ...before, description: 'changed' })
  })

  test('stores a tag only once, even if two tags become equal only when they are stored', async () => {
    const tags = ['\ud800', '\ud801', 'sea', 'sea']
    const { id } = await models.create('ana', { name: 'halves', tags })
    expect(await models.get(id, anonymous)).toMatchObject({ tags: ['\ufffd', 'sea'] })
    const changed = await models.update(id, { tags: ['river', ...tags] }, hostActor)
    expect(JSON.parse(changed.tags)).toEqual(['river', '\ufffd', 'sea'])
  })
})
