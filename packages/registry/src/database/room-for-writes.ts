import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isStorageFull } from '../unavailable.ts'
import type { Ballast } from './ballast.ts'

/**
 * By default, SQLite copies the write-ahead log (“the log” in this file) into the database after a commit if the log
 * has reached this number of pages.
 */
const defaultLogPages = 1_000
/**
 * Maximum size of the log as a share of the ballast: when the log is copied, the database file may grow by the size of
 * the log, and the ballast has to provide the space for this too.
 */
const maxBallastShare = 0.25
/** Estimated number of pages that every commit writes to the log. */
const pagesPerCommit = 16
/** Estimated number of additional pages for each changed row, including its entries in indexes and the search index. */
const pagesPerRow = 2
/** Space for directories and small files next to the database. */
const besidesBytes = 64 * 1024
/** Factor by which the space for a commit grows after a commit has failed for lack of space. */
const growthAfterFailure = 4

/**
 * Runs writes to an SQLite database, and frees the space that they need on a nearly full disk, if the ballast can
 * provide it. On such a disk, the log is copied into the database after each commit, so that the next commit overwrites
 * the log and needs no additional space. If the log could not be copied, it would grow with each commit until even
 * deletions were impossible. The space for the copy is therefore freed together with the space for the commit, and a
 * write that would enlarge the database beyond the space on the disk is refused.
 */
export function roomForWrites(database: DatabaseSync, ballast: Ballast) {
  const path = database.location() ?? '' // empty for an in-memory database
  const logPath = `${path}-wal`
  const totalChanges = asNumber(database, 'select total_changes()')
  const pageCount = asNumber(database, 'pragma page_count')
  const pageBytes = asNumber(database, 'pragma page_size')()
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)')
  let changesBefore = 0
  /**
   * Number of pages in the database at the start of the transaction; undefined if the disk was not nearly full at that
   * time.
   */
  let pagesBefore: number | undefined
  /** Bytes of the log that the next commit overwrites; 0 while the disk is not nearly full. */
  let reusableBytes = 0
  /**
   * Factor by which the estimated space for a commit is multiplied. It grows with each commit that fails for lack of
   * space. It is reset when a commit with at least as many pages as the failed one succeeds, or when the disk is not
   * nearly full.
   */
  let caution = 1
  let failedPages = 0
  let wasTight = false
  /** Number of bytes that the file system saves by compressing the database file. */
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

  /** Bytes by which the database file must grow to hold all its pages, including the pages of an open transaction. */
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
        reusableBytes = 0 // a copy-on-write file system cannot overwrite the log's old blocks
      }
      throw error
    }
  }

  function begin<T>(run: () => T): T {
    // Read these numbers before the transaction begins, so that the transaction is not left open if reading them fails.
    changesBefore = totalChanges()
    pagesBefore = isTight() ? pageCount() : undefined
    return run()
  }

  /**
   * Runs a `commit`. If the commit fails, SQLite rolls the transaction back, so the commit cannot be retried. After a
   * failure, more space is freed for the next commits.
   */
  function commit<T>(run: () => T): T {
    if (isTight()) return commitOnFullDisk(run)
    reusableBytes = 0
    return run()
  }

  /**
   * Runs the statement in a transaction, so that the number of changed rows, and hence the space needed, is known
   * before the commit.
   */
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

  /** Runs a statement that writes. Within a transaction, it needs no space until the commit. */
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

/** Returns the error that SQLite throws for a full disk. */
const databaseFull = () =>
  Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })

/** The space that the file occupies on the disk; 0 if the file does not exist. */
const allocatedBytes = (path: string) =>
  (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512

const readSize = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Prepares a statement that returns a single number. */
function asNumber(database: DatabaseSync, sql: string): () => number {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return () => Number((statement.get() as unknown as [number])[0])
}
