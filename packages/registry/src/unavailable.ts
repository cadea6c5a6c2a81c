/** Errors of the system, the database and the store that mean "not now": the same call may succeed later. */

import { isDomainError } from './errors.ts'

/**
 * From the operating system: a server that cannot be reached, a disk that fails or became read-only, too many open
 * files.
 */
const systemCodes =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE|EROFS|EIO|ENXIO|ENODEV|ESTALE)$/

/**
 * Classes and codes of SQLSTATE (PostgreSQL documentation, appendix A): connection exceptions (08), a standby that took
 * over (25006), a session that timed out (25P03, 25P04), refused credentials (28), deadlocks (40001, 40P01),
 * insufficient resources (53), a lock that is not available (55P03), cancelled statements (57014), shutdowns (57P),
 * system errors (58).
 */
const sqlStates = /^(08|25006|25P03|25P04|28|40001|40P01|53|55P03|57014|57P|58)/

/**
 * The source files in which PostgreSQL reads and writes files. There it has a SQLSTATE for a full disk (53100) and a
 * failing one (58030); an exceeded quota, a limit on the size of files and a read-only file system are an "internal
 * error" (XX000) or "insufficient privilege" (42501), with a message in the server's language.
 */
const postgresFiles = /^(md|fd|buffile|slru)\.c$/

/** Here "not in the prerequisite state" (55000) is a database that accepts no connections. */
const startingSessions = 'postinit.c'

/**
 * Messages of `pg`, its pool and Kysely's driver without a code (pg 8.23: `client.js`, `connection.js`; pg-pool:
 * `index.js`).
 */
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

/**
 * SQLite's primary result codes for a database file that is locked (5, 6), read-only (8), failing
 * (10) or cannot be opened (14).
 */
const sqliteCodes = [5, 6, 8, 10, 14]
const sqliteFull = 13

/** Whether the database or the store is unreachable, busy or closing. */
export function isUnavailable(error: unknown): boolean {
  if (isDomainError(error)) return error.code === 'unavailable' || error.code === 'storage_full'
  if (!(error instanceof Error)) return false
  const code = getCode(error)
  const isConnecting = 'syscall' in error && error.syscall === 'connect' // ENOENT: the Unix socket of a stopped server
  if (isConnecting || systemCodes.test(code)) return true
  if (code.length === 5 && sqlStates.test(code)) return true
  if (code === '55000') return 'file' in error && error.file === startingSessions
  if (/^(XX000|42501)$/.test(code) && 'file' in error) return postgresFiles.test(`${error.file}`)
  const sqliteCode = findSqliteCode(error)
  if (sqliteCode !== undefined) return sqliteCodes.includes(sqliteCode)
  return sentences.some((sentence) => sentence.test(error.message))
}

/** Whether the disk of the store or of the database is full. */
export function isStorageFull(error: Error): boolean {
  if (/^(ENOSPC|EDQUOT|53100)$/.test(getCode(error))) return true
  return findSqliteCode(error) === sqliteFull || isSessionWithoutRoom(error)
}

/**
 * PostgreSQL 15's error message if a new session cannot write its catalog cache. The message is never translated. Its
 * code is XX000 (internal error), and it lacks the operating system's reason, which newer versions include.
 *
 */
function isSessionWithoutRoom(error: Error): boolean {
  const isInCache = getCode(error) === 'XX000' && 'file' in error && error.file === 'relcache.c'
  return isInCache && error.message.startsWith('could not write init file')
}

const getCode = (error: Error) => ('code' in error ? String(error.code) : '')

/** The primary result code: the low byte of the extended one. */
function findSqliteCode(error: Error): number | undefined {
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}
