import type { Model } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../database/schema.ts'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

const count = 10_050
/** Number of models with the word "tide" in their names. The others have it in their descriptions. */
const inNames = 10_020

describeOnEachDatabase('a list with more models than are counted exactly', (start) => {
  let registry: TestRegistry

  beforeAll(async () => {
    registry = await start()
    await registry.register('ana')
    const { db } = await registry.connect()
    await insertModels(db)
  })

  test.each([
    ['', 9_990, 20],
    ['', 10_000, 20],
    ['', 10_001, 20],
    ['', 10_040, 10],
    ['', 10_050, 0],
    ['q=tide', 10_001, 20],
    ['q=tide', 10_040, 10],
    ['q=tide&sort=relevance', 10_040, 10],
    ['owner=ana', 10_040, 10],
  ])('?%s with offset %i returns %i models and an inexact total', async (query, offset, length) => {
    const { body, headers }: { body: Model[]; headers: Headers } = await registry.get(
      `/v1/models?${query}&offset=${offset}`,
    )
    expect(body).toHaveLength(length)
    expect(headers.get('x-total-count')).toBe('10000')
    expect(headers.get('x-total-count-exact')).toBe('false')
  })

  test.each([
    '',
    'sort=likes&order=asc',
    'sort=created_at',
    'q=tide',
    'q=tide&sort=relevance',
    'owner=ana&sort=created_at&order=asc',
  ])('?%s: following the Link headers to the last page lists each model once', async (query) => {
    const seen = new Set<string>()
    let pages = 0
    let next: string | undefined = `/v1/models?${query}&limit=30&offset=9960`
    while (next) {
      const { body, headers }: { body: Model[]; headers: Headers } = await registry.get(
        next.replace(registry.url, ''),
      )
      pages += 1
      for (const { id } of body) seen.add(id)
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect([seen.size, pages]).toEqual([90, 4])
  })

  test('a cursor continues where its page ended, even if models have been added before that position', async () => {
    const token = await registry.register('ben')
    const first = await registry.get('/v1/models?sort=created_at&limit=3')
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
    const path = next.replace(registry.url, '')
    const before = (await registry.get(path)).body
    await registry.post('/v1/models', { token, body: { name: 'newest' } })
    expect((await registry.get(path)).body).toEqual(before)
    await registry.call('DELETE', '/v1/models/newest', { token })
  })

  test.each([
    'x',
    '1_',
    '1_00000000-0000-7000-8000-00000000000',
    '1e400_00000000-0000-7000-8000-000000000000',
  ])('the cursor %s is refused', async (cursor) => {
    expect((await registry.get(`/v1/models?cursor=${cursor}`)).status).toBe(400)
  })

  test.each(['999999999999999', '-5', '0.5'])(
    'a cursor with the value %s is valid for every sort order',
    async (value) => {
      for (const sort of ['downloads', 'created_at', 'relevance']) {
        const cursor = `${value}_00000000-0000-7000-8000-000000000000`
        for (const q of ['', 'q=tide&']) {
          const { status } = await registry.get(`/v1/models?${q}sort=${sort}&cursor=${cursor}`)
          expect(status).toBe(200)
        }
      }
    },
  )

  test('in order of relevance, matches in descriptions come directly after all matches in names', async () => {
    // 10,020 models have the word "tide" in their names, and 30 only in their descriptions
    const last = `/v1/models?q=tide&sort=relevance&limit=15&offset=10035`
    const { body }: { body: Model[] } = await registry.get(last)
    expect(body.map(({ name }) => name)).toEqual(
      Array.from({ length: 15 }, (_, at) => `model-${10_034 - at}`),
    )
  })
})

async function insertModels(db: Kysely<Database>) {
  const now = new Date().toISOString()
  const rows = Array.from({ length: count }, (_, number) => ({
    id: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    name: `model-${number}`,
    owner: 'ana',
    display_name: number < inNames ? `Model ${number} of the tide` : `Model ${number}`,
    description: number < inNames ? null : 'tide',
    is_public: 1 as const,
    set_by_hand: '[]',
    tags: '[]',
    quantizations: '[]',
    visibility_version: 1,
    downloads: 0,
    likes: 0,
    files_count: 0,
    total_size_bytes: 0,
    created_at: now,
    updated_at: now,
  }))
  for (let at = 0; at < count; at += 1_000) {
    const some = rows.slice(at, at + 1_000)
    await db.insertInto('model').values(some).execute()
  }
}
