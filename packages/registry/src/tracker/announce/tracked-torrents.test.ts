import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { movedClock } from '@shoal/core/testing'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openBallast } from '../../database/ballast.ts'
import type { Database } from '../../database/schema.ts'
import { openSqlite, sqliteDialect } from '../../database/sqlite.ts'
import type { Capabilities } from '../../files/downloads/capability.ts'
import { trackedTorrents } from './tracked-torrents.ts'

/** Creates a database that counts its queries. It contains public files with the info hashes '0', '1' and so on. */
async function publicFiles(count: number) {
  const directory = await mkdtemp(join(tmpdir(), 'shoal-tracked-'))
  const database = openSqlite(join(directory, 'small.sqlite'))
  const { dialect } = sqliteDialect(database, openBallast(directory, 0))
  let queries = 0
  const db = new Kysely<Database>({
    dialect,
    log() {
      queries += 1
    },
  })
  onTestFinished(async () => {
    await db.destroy()
    await rm(directory, { recursive: true })
  })
  database.exec('create table model (id text primary key, is_public integer)')
  database.exec("insert into model values ('m', 1)")
  database.exec('create table file (id, model_id, status, public_info_hash text primary key)')
  await sql`with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count})
    insert into file select n, 'm', 'ready', n from number`.execute(db)
  queries = 0
  return { db, queries: () => queries }
}

test('a recently requested torrent stays in the cache when the cache is full', async () => {
  const maxCached = 20
  const { db, queries } = await publicFiles(maxCached + 2)
  const torrents = trackedTorrents({
    db,
    capabilities: {} as Capabilities,
    maxCached,
    clock: movedClock(), // stands still, so that nothing expires
  })
  for (let n = 0; n < maxCached; n += 1) await torrents.get(`${n}`, undefined)
  await torrents.get('0', undefined)
  expect(queries()).toBe(maxCached)

  await torrents.get(`${maxCached}`, undefined)
  await torrents.get(`${maxCached + 1}`, undefined)
  await torrents.get('0', undefined)
  expect(queries()).toBe(maxCached + 2)
})
