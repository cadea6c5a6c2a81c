import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgresBinaries, type PostgresServer, startPostgres } from '../../testing/postgres.ts'
import { nextNumber } from './world.ts'

const run = promisify(execFile)

/** A PostgreSQL server that only the faults use, so that they can stop it and close its connections. */
export type DatabaseServer = {
  server: PostgresServer
  /** Creates a database and returns its URL. */
  makeDatabase(): Promise<string>
  /** Runs one statement. Returns a line for each row, with columns separated by `|`. */
  query(databaseUrl: string, statement: string): Promise<string[]>
  /**
   * Copies a database with `pg_dump` and `psql`, as the documentation for administrators describes. Returns the URL of
   * the copy.
   */
  copyDatabase(databaseUrl: string, folder: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a server. Throws if PostgreSQL is not installed. */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const bin = findPostgresBinaries()
  const server = await startPostgres()
  if (!bin || !server) throw new Error('PostgreSQL is not installed')
  process.once('exit', server.abandon)

  async function query(databaseUrl: string, statement: string): Promise<string[]> {
    const words = ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', databaseUrl, '-c', statement]
    const { stdout } = await run(join(bin ?? '', 'psql'), words, { cwd: '/' })
    return stdout.split('\n').filter((line) => line !== '')
  }

  async function makeDatabase(): Promise<string> {
    const name = `faults_${process.pid}_${nextNumber()}`
    await query(server?.url ?? '', `create database ${name}`)
    return server?.url.replace(/\/postgres$/, `/${name}`) ?? ''
  }

  return {
    server,
    makeDatabase,
    query,
    async copyDatabase(databaseUrl, folder) {
      const dump = join(folder, 'dump.sql')
      await run(join(bin, 'pg_dump'), ['-d', databaseUrl, '-f', dump], { cwd: '/' })
      const target = await makeDatabase()
      const words = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', target, '-f', dump]
      await run(join(bin, 'psql'), words, { cwd: '/' })
      return target
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', server.abandon)
      await server.stop()
    },
  }
}
