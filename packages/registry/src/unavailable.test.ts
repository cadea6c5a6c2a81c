import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { hasPostgres, postgresUrl } from '../../../testing/servers.ts'
import { canMount } from '../../../testing/small-disk.ts'
import { describeUnavailable, isStorageFull, isUnavailable } from './unavailable.ts'

const require = createRequire(import.meta.url)
const kysely = dirname(require.resolve('kysely'))
/** The source files that contain the messages. If an update changes a message, the first test fails. */
const sources = [
  require.resolve('pg/lib/client'),
  require.resolve('pg/lib/connection'),
  createRequire(require.resolve('pg')).resolve('pg-pool'),
  join(kysely, 'dialect/postgres/postgres-driver.js'),
  join(kysely, 'driver/runtime-driver.js'),
]

test('every driver message about a lost or unavailable connection counts as temporary', () => {
  const code = sources.map((path) => readFileSync(path, 'utf8')).join('\n')
  const messages = [
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'Cannot use a pool after calling end on the pool',
    'There was an error establishing an SSL connection',
    'Received unexpected rowDescription message from backend.',
    'Postgres connection has been discarded',
    'driver has already been destroyed',
  ]
  for (const message of messages) {
    expect.soft(code).toContain(message)
    expect.soft(isUnavailable(new Error(message)), message).toBe(true)
  }
})

test('certain codes of PostgreSQL, SQLite and the operating system count as temporary, and no others do', () => {
  const withCode = (code: string) => Object.assign(new pg.DatabaseError('x', 1, 'error'), { code })
  const sqlite = (errcode: number) =>
    Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode })
  const notNow = [
    '08006',
    '25006',
    '25P03',
    '28P01',
    '40P01',
    '53300',
    '57014',
    '57P01',
    '57P03',
    '58030',
  ]
  const wrong = ['23505', '22003', '42601', '42P01', 'XX000', '25P02']
  for (const code of notNow) expect.soft(isUnavailable(withCode(code)), code).toBe(true)
  for (const code of wrong) expect.soft(isUnavailable(withCode(code)), code).toBe(false)
  for (const code of [5, 6, 8, 10, 14, 778, 517])
    expect.soft(isUnavailable(sqlite(code))).toBe(true)
  for (const code of [1, 11, 13, 19, 2067]) expect.soft(isUnavailable(sqlite(code))).toBe(false)
  for (const [code, what] of [
    ['ECONNRESET', "the registry's database is unavailable"],
    ['EIO', "the registry's disk is unavailable"],
    ['EMFILE', 'the registry has too many open files'],
  ] as const) {
    const error = Object.assign(new Error('x'), { code })
    expect.soft(isUnavailable(error), code).toBe(true)
    expect.soft(describeUnavailable(error)).toBe(what)
  }
  const socketGone = Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'connect' })
  expect.soft(isUnavailable(socketGone)).toBe(true)
  expect
    .soft(isUnavailable(Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' })))
    .toBe(false)
  expect.soft(isUnavailable(new TypeError('x is not a function'))).toBe(false)

  for (const full of [
    withCode('53100'),
    sqlite(13),
    Object.assign(new Error('x'), { code: 'ENOSPC' }),
  ]) {
    expect.soft(isStorageFull(full)).toBe(true)
  }
})

test('of the PostgreSQL errors with a generic SQLSTATE, only those about files count as temporary', () => {
  const thrownIn = (file: string, code: string) =>
    Object.assign(new pg.DatabaseError('x', 1, 'error'), { code, file })
  expect(isUnavailable(thrownIn('md.c', 'XX000'))).toBe(true) // EDQUOT: Disk quota exceeded
  expect(isUnavailable(thrownIn('md.c', '42501'))).toBe(true) // EROFS: Read-only file system
  expect(isUnavailable(thrownIn('heapam.c', 'XX000'))).toBe(false)
  expect(isUnavailable(thrownIn('aclchk.c', '42501'))).toBe(false)
  expect(isUnavailable(thrownIn('bufpage.c', 'XX001'))).toBe(false)
})

const table = "create temp table large as select repeat('x', 1000) from generate_series(1, 30000)"
const sorting = "select repeat('x', 60) from generate_series(1, 600000) as n order by n desc"

/**
 * Tests an error that PostgreSQL reports without the code 53100 when it cannot enlarge a file. The only way to cause
 * such an error on every machine is to exceed the operating system's file size limit, which root can set for other
 * processes.
 */
test.skipIf(!hasPostgres || !canMount).each([
  ['a table', table],
  ['a temporary file', sorting],
])('the error for %s that PostgreSQL cannot enlarge counts as temporary', async (_, statement) => {
  const client = new pg.Client({ connectionString: await postgresUrl() })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query("set work_mem = '64kB'")
  const { rows } = await client.query(
    "select pg_backend_pid() as pid, current_setting('data_directory') as path",
  )
  const { uid, gid } = statSync(rows[0].path)
  // A multiple of the page size (8 KiB), and more than the 16 MiB of a write-ahead log file, because the server would
  // stop if it could not write such a file.
  const limit = String(2_112 * 8_192)
  execFileSync('prlimit', ['--pid', String(rows[0].pid), `--fsize=${limit}:${limit}`], { uid, gid })
  const error = await client.query(statement).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'XX000', message: expect.stringContaining('could not') })
  expect(isUnavailable(error)).toBe(true)
})
