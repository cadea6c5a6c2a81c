/** A PostgreSQL primary with a synchronous standby, which can be promoted once. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgresBinaries, userFor } from '../testing/postgres.ts'
import { end, launch, run, untilReady } from './processes.ts'
import { type Cluster, getProcess } from './state.ts'

/** How to stop PostgreSQL: `fast` ends its connections; `immediate` simulates a crash. */
export const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
const promotionTimeoutSeconds = 60

/**
 * Starts both servers. A commit is acknowledged only when both servers have it, so that promoting the standby loses
 * nothing.
 */
export async function startPostgres(cluster: Cluster): Promise<void> {
  const { primary, standby } = cluster.state.ports
  const directory = join(cluster.directory, 'postgres')
  mkdirSync(directory, { mode: 0o700 })
  const user = userFor(directory)
  const call = (name: string, options: string[]) =>
    run(cluster, join(binaries(), name), options, user)
  const start = async (name: 'primary' | 'standby', settings: Record<string, string>) => {
    const port = cluster.state.ports[name]
    const all = {
      port: `${port}`,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      fsync: 'off', // only processes are killed; the machine keeps running
      cluster_name: name,
      ...settings,
    }
    const options = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])
    const record = launch(cluster, {
      name,
      path: join(binaries(), 'postgres'),
      options: ['-D', join(directory, name), ...options],
      port,
      user,
    })
    await untilReady(cluster, record, () => query(port, 'select 1'))
    return record
  }

  await call('initdb', ['-D', join(directory, 'primary'), '-U', 'shoal', '-A', 'trust', '-N'])
  const started = await start('primary', { synchronous_standby_names: 'standby' })
  const source = ['-h', '127.0.0.1', '-p', `${primary}`, '-U', 'shoal']
  const replication = ['-R', '-X', 'stream', '-c', 'fast', '-C', '-S', 'standby']
  await call('pg_basebackup', [...source, '-D', join(directory, 'standby'), ...replication])
  await start('standby', { wal_retrieve_retry_interval: '200ms' })
  await untilReady(cluster, started, async () => {
    const answer = await query(primary, 'select sync_state from pg_stat_replication')
    if (answer !== 'sync')
      throw new Error(
        `the standby (port ${standby}) is not replicating the primary (port ${primary}) synchronously`,
      )
  })
}

/** Stops the primary as in a crash, and makes the standby the primary. */
export async function promoteStandby(cluster: Cluster): Promise<void> {
  const { standby } = cluster.state.ports
  await end(getProcess(cluster, 'primary'), stopSignals.immediate)
  const promoted = await query(standby, `select pg_promote(true, ${promotionTimeoutSeconds})`)
  if (promoted !== 't') throw new Error('PostgreSQL could not promote the standby')
}

/** Resolves to the result of a statement, in psql's unaligned format. */
export async function query(port: number, statement: string): Promise<string> {
  const url = `postgres://shoal@127.0.0.1:${port}/postgres?connect_timeout=3`
  const { stdout } = await promisify(execFile)(join(binaries(), 'psql'), [
    '-XAt',
    '-d',
    url,
    '-c',
    statement,
  ])
  return stdout.trim()
}

function binaries(): string {
  const found = findPostgresBinaries()
  if (!found) throw new Error('PostgreSQL is not installed')
  return found
}
