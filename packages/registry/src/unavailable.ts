/**
 * Recognizes temporary errors from the operating system, the database and the store. The same call may succeed later.
 */

import { isDomainError } from './errors.ts'

/** Operating-system error codes for a server that cannot be reached. */
const connectionCodes =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)$/
/** Those for a disk that fails or has become read-only. */
const diskCodes = /^(EROFS|EIO|ENXIO|ENODEV|ESTALE)$/
/** Those for too many open files. */
const limitCodes = /^(EMFILE|ENFILE)$/

/**
 * SQLSTATE classes and codes (PostgreSQL documentation, appendix A):
 *
 * - 08: connection exceptions
 * - 25006: a read-only server, such as a standby
 * - 25P03, 25P04: transaction timeouts
 * - 28: refused credentials
 * - 40001, 40P01: serialization failures and deadlocks
 * - 53: insufficient resources
 * - 55P03: a lock that is not available
 * - 57014: canceled statements
 * - 57P: shutdowns
 * - 58: system errors
 */
const sqlStates = /^(08|25006|25P03|25P04|28|40001|40P01|53|55P03|57014|57P|58)/

/**
 * The PostgreSQL source files that read and write files. They use specific SQLSTATE codes only for a full disk (53100)
 * and a failing disk (58030). An exceeded quota, an exceeded file size limit or a read-only file system is reported as
 * "internal error" (XX000) or "insufficient privilege" (42501), with a message in the server's language. Such an error
 * is therefore recognized by its source file.
 */
const postgresFiles = /^(md|fd|buffile|slru)\.c$/

/**
 * In errors from this PostgreSQL source file, "object not in prerequisite state" (55000) means that the database
 * accepts no connections.
 */
const startingSessions = 'postinit.c'

/**
 * Messages of the errors that `pg`, its pool and Kysely's driver throw without a code (pg 8.23: `client.js`,
 * `connection.js`; pg-pool: `index.js`).
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
 * SQLite's primary result codes for a database file that is locked (5, 6), is read-only (8), has I/O errors (10) or
 * cannot be opened (14).
 */
const sqliteCodes = [5, 6, 8, 10, 14]
const sqliteFull = 13

/** Whether the error is temporary. For example, the database or the store is unreachable, busy or shutting down. */
export function isUnavailable(error: unknown): boolean {
  if (isDomainError(error)) return error.code === 'unavailable' || error.code === 'storage_full'
  if (!(error instanceof Error)) return false
  const code = getCode(error)
  // Any error while connecting counts as temporary, even ENOENT: a stopped server has no Unix socket.
  const isConnecting = 'syscall' in error && error.syscall === 'connect'
  if (isConnecting || [connectionCodes, diskCodes, limitCodes].some((of) => of.test(code)))
    return true
  if (code.length === 5 && sqlStates.test(code)) return true
  if (code === '55000') return 'file' in error && error.file === startingSessions
  if (/^(XX000|42501)$/.test(code) && 'file' in error) return postgresFiles.test(`${error.file}`)
  const sqliteCode = findSqliteCode(error)
  if (sqliteCode !== undefined) return sqliteCodes.includes(sqliteCode)
  return sentences.some((sentence) => sentence.test(error.message))
}

/** Says what is unavailable, for an error for which `isUnavailable` returns true. */
export function describeUnavailable(error: Error): string {
  const code = getCode(error)
  if (limitCodes.test(code)) return 'the registry has too many open files'
  return `the registry's ${diskCodes.test(code) ? 'disk' : 'database'} is unavailable`
}

/** Whether the error means that the disk of the store or of the database is full. */
export function isStorageFull(error: Error): boolean {
  if (/^(ENOSPC|EDQUOT|53100)$/.test(getCode(error))) return true
  return findSqliteCode(error) === sqliteFull || isSessionWithoutRoom(error)
}

/**
 * Whether this is PostgreSQL 15's error for a new session that cannot write its catalog cache. The error is recognized
 * by its message, which is never translated. Its code is only XX000 (internal error), and unlike in newer versions, the
 * message does not include the operating system's reason.
 */
function isSessionWithoutRoom(error: Error): boolean {
  const isInCache = getCode(error) === 'XX000' && 'file' in error && error.file === 'relcache.c'
  return isInCache && error.message.startsWith('could not write init file')
}

const getCode = (error: Error) => ('code' in error ? String(error.code) : '')

/** SQLite's primary result code: the low byte of the extended result code. */
function findSqliteCode(error: Error): number | undefined {
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}
