import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openBallast } from './ballast.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'
import { openWriteAheadLog } from './write-ahead-log.ts'

/** Creates a database whose log is synced by `syncs.next` if it is set, and as usual otherwise. */
async function openNotes() {
  const directory = await mkdtemp(join(tmpdir(), 'shoal-log-'))
  const path = join(directory, 'notes.sqlite')
  const database = openSqlite(path)
  database.exec('pragma busy_timeout = 0')
  const syncs: { next: (() => Promise<void>) | undefined } = { next: undefined }
  const log = openWriteAheadLog(database, (file) => (syncs.next ?? (() => file.datasync()))())
  const { dialect, withoutSync } = sqliteDialect(database, openBallast(directory, 0), log)
  const db = new Kysely<object>({ dialect })
  onTestFinished(async () => {
    await log.close()
    await db.destroy()
    await rm(directory, { recursive: true })
  })
  await sql`create table note (text)`.execute(db)
  const write = () => sql`insert into note values ('a')`.execute(db)
  const logBytes = async () => (await stat(`${path}-wal`)).size
  const level = () => database.prepare('pragma synchronous').get()?.synchronous
  return { path, db, log, syncs, write, logBytes, level, withoutSync }
}

const fail = () => Promise.reject(Object.assign(new Error('i/o error'), { code: 'EIO' }))

test('after a failed sync, the log is copied into the database before anything else is written', async () => {
  const { path, db, log, syncs, write, logBytes } = await openNotes()
  await write()
  await log.sync()
  const before = await logBytes()
  await write()
  expect(await logBytes()).toBeGreaterThan(before)

  syncs.next = fail
  await expect(log.sync()).rejects.toMatchObject({ code: 'unavailable', cause: { code: 'EIO' } })
  syncs.next = undefined
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('begin')
  reader.prepare('select * from note').all()
  await expect(write()).rejects.toMatchObject({ code: 'unavailable' }) // a reader is still using the log
  await expect(db.transaction().execute(async () => undefined)).rejects.toMatchObject({
    code: 'unavailable',
  })
  const reading = await sql`select * from note`.execute(db)
  expect(reading.rows).toHaveLength(2)

  reader.close()
  await write()
  await log.sync()
  const main = new DatabaseSync(`file:${path}?immutable=1`, { readOnly: true }) // without the log
  expect(main.prepare('select * from note').all()).toHaveLength(2)
  main.close()
})

test('only transactions in `withoutSync` are committed without a sync', async () => {
  const { level, withoutSync } = await openNotes()
  expect(level()).toBe(2) // full
  expect(await withoutSync(async () => level())).toBe(1) // normal
  expect(level()).toBe(2)
  await expect(withoutSync(fail)).rejects.toThrow('i/o error')
  expect(level()).toBe(2)
})
