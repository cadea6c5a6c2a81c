import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isStorageFull } from '../unavailable.ts'
import type { Ballast } from './ballast.ts'

/** Pages of the log above which SQLite by default copies it into the database after a commit. */
const defaultLogPages = 1_000
/** The database file may grow by the size of the log, and the ballast has to cover that too. */
const maxBallastShare = 0.25
/** Pages that any commit writes to the log. */
const pagesPerCommit = 16
/** Additional pages for each changed row, with indexes and the search index. */
const pagesPerRow = 2
/** For directories and small files next to the database. */
const besidesBytes = 64 * 1024
/** How much more space a commit gets after one that failed for lack of it. */
const growthAfterFailure = 4

/**
 * Runs writes to a SQLite database so that they find space on the disk if the ballast can provide it. On a nearly full
 * disk, the log is copied into the database after each commit, so that the next commit overwrites it and needs no more
 * space. A log that cannot be copied only grows, until nothing can be deleted. So space for the copy is provided
 * together with that for the commit, and a write that would make the database larger than the disk allows is refused.
 */
export function roomForWrites(database: DatabaseSync, ballast: Ballast) {
  const path = database.location() ?? '' // for an in-memory database
  const logPath = `${path}-wal`
  const totalChanges = asNumber(database, 'select total_changes()')
  const pageCount = asNumber(database, 'pragma page_count')
  const pageBytes = asNumber(database, 'pragma page_size')()
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)')
  let changesBefore = 0
  /** Pages of the database at the start of the transaction, if the disk was nearly full then. */
  let pagesBefore: number | undefined
  /** Bytes of the log that the next commit overwrites; 0 until the disk is nearly full. */
  let reusableBytes = 0
  /** Grows while commits fail, until one that writes as many pages succeeds. */
  let caution = 1
  let failedPages = 0
  let wasTight = false
  /** Bytes that the file does not occupy because the file system compresses it. */
  let compressedBytes = 0
  limitLog()

  function limitLog() {
    if (ballast.sizeBytes === 0) return
    const pages = Math.floor((ballast.sizeBytes * maxBallastShare) / pageBytes)
    database.exec(`pragma wal_autocheckpoint = ${Math.min(defaultLogPages, pages)}`)
  }

  function isTight(): boolean {
    const isNow = ballast.isTight()
    if (isNow && !wasTight) compressedBytes = Math.max(0, readSize(path) - allocatedBytes(path))
    if (!isNow) caution = 1
    wasTight = isNow
    return isNow
  }

  /** Bytes that the file is short of its pages, including those of an open transaction. */
  const growthBytes = () =>
    Math.max(0, pageCount() * pageBytes - allocatedBytes(path) - compressedBytes)

  function refuseGrowth() {
    const hasGrown = pagesBefore !== undefined && pageCount() > pagesBefore
    if (hasGrown && ballast.roomBytes() < growthBytes()) throw databaseFull()
  }

  function copyLog() {
    reusableBytes = 0
    ballast.makeRoom(besidesBytes + growthBytes())
    try {
      const { log, checkpointed } = checkpoint.get() as { log: number; checkpointed: number }
      if (log === checkpointed) reusableBytes = allocatedBytes(logPath)
    } catch (error) {
      if (!isFull(error)) throw error // pages that do not fit stay in the log
    }
  }

  function commitOnFullDisk<T>(run: () => T): T {
    refuseGrowth()
    const pages = pagesPerCommit + pagesPerRow * (totalChanges() - changesBefore)
    const logBytes = Math.max(0, caution * pages * pageBytes - reusableBytes)
    ballast.makeRoom(besidesBytes + logBytes + growthBytes())
    try {
      const result = run()
      if (pages >= failedPages) caution = 1
      copyLog()
      return result
    } catch (error) {
      if (isFull(error)) {
        caution *= growthAfterFailure
        failedPages = pages
        reusableBytes = 0 // a copy-on-write file system has no space in old blocks
      }
      throw error
    }
  }

  function begin<T>(run: () => T): T {
    // Runs before the transaction begins, because a failure here must not leave a transaction open.
    changesBefore = totalChanges()
    pagesBefore = isTight() ? pageCount() : undefined
    return run()
  }

  /** Runs a `commit`. If it fails, SQLite rolls back, so it cannot be retried; space is provided for the next one. */
  function commit<T>(run: () => T): T {
    if (isTight()) return commitOnFullDisk(run)
    reusableBytes = 0
    return run()
  }

  /** Runs the statement in a transaction, in order to find out how much space it needs. */
  function writeOnFullDisk<T>(run: () => T): T {
    try {
      begin(() => database.exec('begin immediate'))
      const result = run()
      commit(() => database.exec('commit'))
      return result
    } finally {
      if (database.isTransaction) database.exec('rollback')
    }
  }

  /** A statement that writes. Within a transaction it needs no space yet. */
  function write<T>(run: () => T): T {
    if (database.isTransaction) return run()
    try {
      if (isTight()) return writeOnFullDisk(run)
      reusableBytes = 0
      return run()
    } catch (error) {
      if (isFull(error) && isTight()) return writeOnFullDisk(run)
      throw error
    }
  }

  return { begin, commit, write }
}

const isFull = (error: unknown) => error instanceof Error && isStorageFull(error)

/** The message that SQLite itself uses. */
const databaseFull = () =>
  Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })

/** 0 if the file does not exist, as below. */
const allocatedBytes = (path: string) =>
  (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512

const readSize = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Prepares a statement that returns a single number. */
function asNumber(database: DatabaseSync, sql: string): () => number {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return () => Number((statement.get() as unknown as [number])[0])
}
