import type { ModelRecord } from '@shoal/protocol'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { progressName } from './fill-from-cards.ts'

describeOnEachDatabase('a card stored by a version that did not read front matter', (start) => {
  test("fills in the model's empty fields once, in the background", async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const readme = '---\nlicense: mit\nlanguage: en\n---\n# Tide'
    const more = Array.from({ length: 60 }, (_, at) => `more-${at}`) // more models than one call processes
    for (const name of ['empty', 'licensed', ...more]) {
      await registry.post('/v1/models', { token, body: { name, readme } })
    }
    await registry.post('/v1/models', { token, body: { name: 'plain', readme: '# Tide' } })
    const read = async (name: string): Promise<ModelRecord> =>
      (await registry.get(`/v1/models/${name}`)).body
    const { updated_at } = await read('empty')

    const { db } = await registry.connect()
    const asBefore = async () => {
      await registry.stop()
      await sql`update model set license = null, tags = '[]', set_by_hand = '[]'`.execute(db)
      await sql`update model set license = 'own' where name = 'licensed'`.execute(db)
    }
    const readProgress = async () =>
      (await sql`select value from secret where name = ${progressName}`.execute(db)).rows
    await expect.poll(readProgress).toEqual([{ value: 'all' }])
    await asBefore()
    await sql`delete from secret where name = ${progressName}`.execute(db)
    await registry.start()
    await expect.poll(readProgress, { timeout: 60_000 }).toEqual([{ value: 'all' }])
    expect(await read('empty')).toMatchObject({ license: 'mit', tags: ['en'], updated_at })
    expect(await read('licensed')).toMatchObject({ license: 'own', tags: ['en'] })
    expect(await read('plain')).toMatchObject({ license: null, tags: [] })
    expect(await read('more-59')).toMatchObject({ license: 'mit', tags: ['en'] })
    expect((await registry.get('/v1/models?license=mit')).headers.get('x-total-count')).toBe('61')
    const path = '/v1/models/empty'
    const changed = await registry.call('PATCH', path, { token, body: { readme: '# Tide' } })
    expect(changed.body).toMatchObject({ license: null, tags: [] }) // the card no longer states them
  }, 120_000)
})
