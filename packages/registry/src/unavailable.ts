/** Errors of the system, the database and the store that say "not now": the same call may well succeed later. */

import { isDomainError } from './errors.ts'

/** From the operating system: a server that cannot be reached, a disk that fails or became read-only, and a process that may open nothing more. */
const systemCodes =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE|EROFS|EIO|ENXIO|ENODEV|ESTALE)$/

/**
 * Classes and codes of SQLSTATE (PostgreSQL documentation, appendix A): connection exceptions (08), a standby that took over
 * (25006), a session that was ended for idling (25P03, 25P04), refused credentials (28), deadlocks (40001, 40P01), insufficient
 * resources (53), a lock that was not to be had (55P03), cancelled statements (57014), shutdowns (57P), system errors (58).
 */
const sqlStates = /^(08|25006|25P03|25P04|28|40001|40P01|53|55P03|57014|57P|58)/

/**
 * Where PostgreSQL reads and writes files. Its errors there have a SQLSTATE of their own for a full disk (53100) and a failing one
 * (58030); a quota that is used up, a limit on the size of files and a file system that became read-only are an "internal error"
 * (XX000) and "insufficient privilege" (42501), with a message in the language of the server.
 */
const postgresFiles = /^(md|fd|buffile|slru)\.c$/

/** What `pg`, its pool and Kysely's driver say in words only (pg 8.23: `client.js`, `connection.js`; pg-pool: `index.js`). */
const sentences = [
  /^timeout exceeded when trying to connect$/,
  /^timeout expired$/,
  /^Connection terminated/,
  /^Query read timeout$/,
  /^Client (has encountered a connection error and|was closed and) is not queryable$/,
  /^Cannot use a pool after calling end on the pool$/,
  /^There was an error establishing an SSL connection$/,
  /^Received unexpected \w+ message from backend\.$/,
  /^Postgres connection has been discarded$/,
  /^driver has already been destroyed$/,
]

/** SQLite's primary result codes for a database file that is locked (5, 6), read-only (8), failing (10) or unopenable (14). */
const sqliteCodes = [5, 6, 8, 10, 14]
const sqliteFull = 13

/** Whether the database or the store is away, busy or closing. */
export function isUnavailable(error: unknown): boolean {
  if (isDomainError(error)) return error.code === 'unavailable' || error.code === 'storage_full'
  if (!(error instanceof Error)) return false
  const code = getCode(error)
  const isConnecting = 'syscall' in error && error.syscall === 'connect' // ENOENT: the Unix socket of a stopped server
  if (isConnecting || systemCodes.test(code)) return true
  if (code.length === 5 && sqlStates.test(code)) return true
  if (/^(XX000|42501)$/.test(code) && 'file' in error) return postgresFiles.test(`${error.file}`)
  const sqliteCode = findSqliteCode(error)
  if (sqliteCode !== undefined) return sqliteCodes.includes(sqliteCode)
  return sentences.some((sentence) => sentence.test(error.message))
}

/** Whether there is no room on the disk of the store or of the database. */
export function isStorageFull(error: Error): boolean {
  if (/^(ENOSPC|EDQUOT|53100)$/.test(getCode(error))) return true
  return findSqliteCode(error) === sqliteFull || isSessionWithoutRoom(error)
}

/**
 * What PostgreSQL 15 says, never translated, when a session cannot write the cache of its catalogs as it begins: an "internal
 * error" (XX000) without the system's reason. Newer versions give that too.
 */
function isSessionWithoutRoom(error: Error): boolean {
  const isInCache = getCode(error) === 'XX000' && 'file' in error && error.file === 'relcache.c'
  return isInCache && error.message.startsWith('could not write init file')
}

const getCode = (error: Error) => ('code' in error ? String(error.code) : '')

/** The primary result code, which the extended one has in its low byte. */
function findSqliteCode(error: Error): number | undefined {
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}
