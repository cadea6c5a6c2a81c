import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBallast } from './ballast.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'

async function smallDatabase() {
  const directory = await mkdtemp(join(tmpdir(), 'shoal-sqlite-'))
  const database = openSqlite(join(directory, 'small.sqlite'))
  const db = new Kysely<object>({
    dialect: sqliteDialect(database, openBallast(directory, 0)).dialect,
  })
  onTestFinished(async () => {
    await db.destroy()
    await rm(directory, { recursive: true })
  })
  await sql`create table note (text)`.execute(db)
  return { database, db }
}

const count = async (db: Kysely<object>) =>
  (await sql<{ notes: number }>`select count(*) as notes from note`.execute(db)).rows[0]?.notes

test('a transaction that fails because of a full disk reports this, and the next one succeeds', async () => {
  const { database, db } = await smallDatabase()
  const { page_count } = database.prepare('pragma page_count').get() ?? {}
  database.exec(`pragma max_page_count = ${Number(page_count) + 4}`)
  const filling = db.transaction().execute(async (trx) => {
    await sql`insert into note values ('a')`.execute(trx)
    await sql`insert into note values (zeroblob(1000000))`.execute(trx)
  })
  await expect(filling).rejects.toMatchObject({ errcode: 13 }) // SQLITE_FULL
  expect(await count(db)).toBe(0)

  await db.transaction().execute((trx) => sql`insert into note values ('b')`.execute(trx))
  expect(await count(db)).toBe(1)
})

test('a transaction that SQLite rolled back by itself reports the original error', async () => {
  const { db } = await smallDatabase()
  await sql`create table one (id integer primary key on conflict rollback)`.execute(db)
  const failing = db.transaction().execute(async (trx) => {
    await sql`insert into note values ('a')`.execute(trx)
    await sql`insert into one values (1), (1)`.execute(trx)
  })
  await expect(failing).rejects.toThrow('UNIQUE constraint failed: one.id')
  expect(await count(db)).toBe(0)
  await db.transaction().execute((trx) => sql`insert into note values ('b')`.execute(trx))
})

test('a frequently used statement stays prepared', async () => {
  const { database, db } = await smallDatabase()
  await count(db)
  const prepare = vi.spyOn(database, 'prepare')
  for (let n = 0; n < 1_000; n += 1) {
    await sql.raw(`select ${n}`).execute(db)
    await count(db)
  }
  expect(prepare).toHaveBeenCalledTimes(1_000)
})
