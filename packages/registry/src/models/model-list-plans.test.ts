import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { anonymous, type Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { modelList } from './model-list.ts'

const ana: Viewer = { accountId: 'x', username: 'ana', seesAll: false }
const page = { limit: 20, offset: 0, sort: 'downloads', order: 'desc' } as const

/** Lists that must be read in index order and only up to the end of one page, without sorting all matches. */
const pages = [
  ['by downloads', page, anonymous],
  ['by likes', { ...page, sort: 'likes' }, anonymous],
  ['by age', { ...page, sort: 'created_at' }, anonymous],
  ['in ascending order', { ...page, order: 'asc' }, anonymous],
  ['a later page', { ...page, offset: 40 }, anonymous],
  ['for an account with private models', page, ana],
] as const

describeOnEachDatabase('a list', (start) => {
  test('is read in index order, without sorting', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    for (let number = 0; number < 50; number += 1) {
      await registry.post('/v1/models', { token, body: { name: `model-${number}` } })
    }
    const { db, engine } = await registry.connect()
    const { recording, recorded } = recorder(db)
    const list = modelList(recording, { find: unexpected })
    for (const [name, query, viewer] of pages) {
      recorded.length = 0
      await list.list(query, viewer)
      const pageQuery = recorded.find(({ sql }) => sql.includes('order by'))
      const plan = await explain(db, engine, pageQuery)
      expect([name, plan]).toEqual([name, expect.stringMatching(/USING INDEX|Index (Only )?Scan/i)])
      expect([name, plan]).toEqual([
        name,
        expect.not.stringMatching(/TEMP B-TREE|Sort|MULTI-INDEX/),
      ])
    }
  })
})

const unexpected = () => Promise.reject(new Error('the search index must not be used'))

/** Records the queries sent to a database. */
function recorder(db: Kysely<Database>) {
  const recorded: CompiledQuery[] = []
  const recording = db.withPlugin({
    transformQuery({ node, queryId }) {
      recorded.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  return { recorded, recording }
}

async function explain(
  db: Kysely<Database>,
  engine: 'sqlite' | 'postgres',
  query: CompiledQuery | undefined,
): Promise<string> {
  const { sql, parameters } = query ?? { sql: '', parameters: [] }
  const explaining = engine === 'sqlite' ? 'explain query plan ' : 'explain '
  return db.connection().execute(async (connection) => {
    if (engine === 'postgres') {
      // the table is small, so make the planner use the indexes as it would for a large one
      await connection.executeQuery(CompiledQuery.raw('set enable_seqscan = off'))
      await connection.executeQuery(CompiledQuery.raw('set enable_bitmapscan = off'))
    }
    const { rows } = await connection.executeQuery(
      CompiledQuery.raw(explaining + sql, [...parameters]),
    )
    return (rows as Record<string, string>[])
      .map((row) => row.detail ?? row['QUERY PLAN'])
      .join('\n')
  })
}
