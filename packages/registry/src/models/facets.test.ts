import type { Facets } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import type { Database } from '../database/schema.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'

const batchSize = 500

/**
 * Inserts models that `ana` owns. Every second model has the tag `chat`, every fifth has the MIT license, and every
 * hundredth is private.
 */
async function insertModels(db: Kysely<Database>, count: number) {
  const now = new Date().toISOString()
  const models = Array.from({ length: count }, (_, at) => ({
    id: newId(),
    name: `model-${at}`,
    owner: 'ana',
    display_name: `Model ${at}`,
    description: null,
    license: at % 5 === 0 ? 'mit' : 'apache-2.0',
    architecture: 'llama',
    parameter_count: 7,
    context_length: null,
    tags: JSON.stringify(at % 2 === 0 ? ['chat', 'gguf'] : ['gguf']),
    is_public: at % 100 === 99 ? (0 as const) : (1 as const),
    downloads: (at * 7919) % count,
    created_at: now,
    updated_at: now,
    set_by_hand: '[]',
    visibility_version: 1,
    likes: 0,
    quantizations: '["Q8_0"]',
    min_file_size_bytes: null,
    min_memory_bytes: null,
    cache_bytes_per_token: null,
    files_count: 0,
    total_size_bytes: 0,
  }))
  for (let at = 0; at < count; at += batchSize) {
    const some = models.slice(at, at + batchSize)
    await db.insertInto('model').values(some).execute()
  }
}

describeOnEachDatabase('facets', (start) => {
  const count = 20_000

  test('count every matching model, however many models match', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const { db } = await registry.connect()
    await insertModels(db, count)
    const fetchFacets = async (path: string, as?: string): Promise<Facets> =>
      (await registry.get(path, { token: as })).body

    expect(await fetchFacets('/v1/facets')).toEqual({
      architectures: [{ value: 'llama', count: 0.99 * count }],
      licenses: [
        { value: 'apache-2.0', count: (0.8 - 0.01) * count },
        { value: 'mit', count: 0.2 * count },
      ],
      tags: [
        { value: 'gguf', count: 0.99 * count },
        { value: 'chat', count: 0.5 * count },
      ],
      quantizations: [{ value: 'Q8_0', count: 0.99 * count }],
    })
    const own = await fetchFacets('/v1/facets', token)
    expect(own.architectures).toEqual([{ value: 'llama', count }])

    const some = await fetchFacets('/v1/facets?license=mit')
    expect(some.architectures).toEqual([{ value: 'llama', count: 0.2 * count }])
    expect(some.tags).toEqual([
      { value: 'gguf', count: 0.2 * count },
      { value: 'chat', count: 0.1 * count },
    ])
    expect(await fetchFacets('/v1/facets?architecture=llama')).toEqual(
      await fetchFacets('/v1/facets'),
    )

    const list = await registry.get('/v1/models?tag=chat&tag=chat&tag=gguf&license=mit')
    expect(list.headers.get('x-total-count')).toBe(String(0.1 * count))
  })
})
