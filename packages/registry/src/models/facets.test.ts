import type { Facets } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import type { Database } from '../database/schema.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { maxExactTotal } from './find-matches.ts'

const batchSize = 500

/**
 * Models of `ana`: every second one has the tag `chat`, every fifth the MIT license, and every hundredth is private.
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
    files_count: 0,
    total_size_bytes: 0,
  }))
  for (let at = 0; at < count; at += batchSize) {
    const some = models.slice(at, at + batchSize)
    await db.insertInto('model').values(some).execute()
    const tags = some.flatMap(({ id, tags }) =>
      (JSON.parse(tags) as string[]).map((tag) => ({ model_id: id, tag })),
    )
    await db.insertInto('model_tag').values(tags).execute()
    const labels = some.map(({ id }) => ({ model_id: id, quantization: 'Q8_0' }))
    await db.insertInto('model_quantization').values(labels).execute()
  }
}

describeOnEachDatabase('facets', (start) => {
  const count = 2 * maxExactTotal

  test('are marked as estimates if there are more than 10,000 matches', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const { db } = await registry.connect()
    await insertModels(db, count)
    const fetchFacets = async (path: string, as?: string) => {
      const { headers, body } = await registry.get(path, { token: as })
      return { isExact: headers.get('x-total-count-exact') === null, facets: body as Facets }
    }

    const everything = await fetchFacets('/v1/facets')
    expect(everything.isExact).toBe(true)
    expect(everything.facets).toEqual({
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
    expect(own.facets.architectures).toEqual([{ value: 'llama', count }])

    const few = await fetchFacets('/v1/facets?license=mit')
    expect(few.isExact).toBe(true)
    expect(few.facets.architectures).toEqual([{ value: 'llama', count: 0.2 * count }])
    expect(few.facets.tags).toEqual([
      { value: 'gguf', count: 0.2 * count },
      { value: 'chat', count: 0.1 * count },
    ])

    const many = await fetchFacets('/v1/facets?architecture=llama')
    expect(many.isExact).toBe(false)
    const getEstimate = (name: keyof Facets, value: string) =>
      many.facets[name].find((one) => one.value === value)?.count ?? 0
    // within 5% of all models
    expect(Math.abs(getEstimate('architectures', 'llama') - 0.99 * count)).toBeLessThan(count / 20)
    expect(Math.abs(getEstimate('licenses', 'mit') - 0.2 * count)).toBeLessThan(count / 20)
    expect(Math.abs(getEstimate('tags', 'chat') - 0.5 * count)).toBeLessThan(count / 20)

    const list = await registry.get('/v1/models?tag=chat&tag=chat&tag=gguf&license=mit')
    expect(list.headers.get('x-total-count')).toBe(String(0.1 * count))
  })
})
