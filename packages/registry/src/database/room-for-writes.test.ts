/**
 * Tests which writes SQLite can still perform on a full disk, whatever its write-ahead log contains and however much
 * space other programs take.
 */
import { mebibyte } from '@shoal/core/units'
import { Kysely, sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { canMount, smallDisk } from '../../../../testing/small-disk.ts'
import { type Ballast, openBallast } from './ballast.ts'
import { openSqlite, sqliteDialect, sqlitePath } from './sqlite.ts'

type Tables = { thing: { id: number; text: string } }

const batchSize = 8

describe.skipIf(!canMount)('writes on a full disk', () => {
  /**
   * Creates a database on a separate small disk, with a ballast of 1 MiB that `change` may replace with a faulty one.
   */
  async function scene(change: (ballast: Ballast, fill: () => void) => Ballast = (same) => same) {
    const disk = await smallDisk('24m')
    onTestFinished(disk.unmount)
    const ballast = openBallast(disk.path, mebibyte)
    await ballast.restore()
    const spoilt = change(ballast, () => disk.fill())
    const { dialect } = sqliteDialect(openSqlite(sqlitePath(disk.path)), spoilt)
    const db = new Kysely<Tables>({ dialect })
    onTestFinished(() => db.destroy())
    await sql`create table thing (id integer primary key, text text not null)`.execute(db)
    return { disk, ballast, db }
  }

  /** Enlarges the database by `pages` pages, in small commits. Each row takes one page. */
  async function grow(db: Kysely<Tables>, pages: number) {
    for (let commits = 0; commits < pages / batchSize; commits += 1) {
      const rows = Array.from({ length: batchSize }, () => ({ text: 'x'.repeat(3_500) }))
      await db.transaction().execute(async (trx) => {
        for (const row of rows)
          await sql`insert into thing (text) values (${row.text})`.execute(trx)
      })
    }
  }

  const deleteFirst = (db: Kysely<Tables>) =>
    db.transaction().execute(async (trx) => {
      await sql`delete from thing where id = (select min(id) from thing)`.execute(trx)
    })

  async function expectDeletions(db: Kysely<Tables>, count: number) {
    const countRows = async () =>
      (await db.selectFrom('thing').select(db.fn.countAll<number>().as('n')).executeTakeFirst())?.n
    const before = (await countRows()) ?? 0
    for (let index = 0; index < count; index += 1) await deleteFirst(db)
    expect(await countRows()).toBe(before - count)
  }

  test('can delete rows even if the log would enlarge the database by more than the ballast', async () => {
    const { disk, db } = await scene()
    await grow(db, 480)
    disk.fill()
    await expectDeletions(db, 400)
  })

  test('can delete rows even if another process took the freed space first', async () => {
    let takings = 0
    const { disk, db } = await scene((ballast, fill) => ({
      ...ballast,
      makeRoom(bytes) {
        const isMore = ballast.makeRoom(bytes)
        if (isMore && takings < 2) {
          takings += 1
          fill()
        }
        return isMore
      },
    }))
    await grow(db, 32)
    disk.fill()
    let failures = 0
    for (let tried = 0; tried < 30 && takings < 2; tried += 1) {
      await deleteFirst(db).catch(() => (failures += 1))
    }
    expect(takings).toBe(2)
    expect(failures).toBeLessThanOrEqual(2)
    await expectDeletions(db, 30)
  })

  test('can delete rows even if no file can grow, and fail if they would enlarge the database', async () => {
    const { disk, ballast, db } = await scene()
    await grow(db, 80)
    disk.fill()
    let refused: unknown
    for (let commits = 0; commits < 100 && !refused; commits += 1) {
      await grow(db, batchSize).catch((error: unknown) => {
        refused = error
      })
    }
    expect(refused).toMatchObject({ errcode: 13 })
    ballast.makeRoom(mebibyte)
    disk.fill() // takes the space that the ballast has just freed
    const alone = sql`insert into thing (text) values (${'x'.repeat(40_000)})`.execute(db)
    await expect(alone).rejects.toMatchObject({ errcode: 13 })
    await expectDeletions(db, 80)
    await grow(db, batchSize) // uses the space that the deletions freed
  })

  test('use no more of the ballast than a commit needs', async () => {
    const { disk, ballast, db } = await scene()
    await grow(db, 80)
    disk.fill()
    await expectDeletions(db, 60)
    expect(ballast.missingBytes()).toBeGreaterThan(0)
    expect(ballast.missingBytes()).toBeLessThan(mebibyte / 2)
    expect(ballast.isNearlySpent()).toBe(false)
  })
})
