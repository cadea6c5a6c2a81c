import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgresBinaries, type PostgresServer, startPostgres } from '../../testing/postgres.ts'
import { nextNumber } from './world.ts'

const run = promisify(execFile)

/** A PostgreSQL server that no other program uses: it may be broken at will. */
export type DatabaseServer = {
  server: PostgresServer
  /** A fresh database; returns its address. */
  makeDatabase(): Promise<string>
  /** One statement; rows as lines, columns parted by `|`. */
  query(databaseUrl: string, statement: string): Promise<string[]>
  /** As the manual has it: `pg_dump` here, `psql` into a fresh database there. Returns the address of that. */
  copyDatabase(databaseUrl: string, folder: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** Throws where PostgreSQL is not installed. */
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
