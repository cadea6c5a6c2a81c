import { listServers } from './balancer.ts'
import { getReadiness } from './nodes.ts'
import { query } from './postgres.ts'
import { isRunning } from './processes.ts'
import type { Cluster, ProcessRecord } from './state.ts'
import { pingRedis } from './stores.ts'

export type ProcessStatus = {
  name: string
  pid: number
  port: number | undefined
  /** The state of the process, such as `ready`, `primary` or `exited`, or the reason why it is not ready. */
  health: string
  /**
   * The load balancer's status of the process, such as `UP` or `DOWN`; undefined if the load balancer does not check
   * it.
   */
  balancer: string | undefined
}

/** Returns a row for each process, in the order in which they were started. */
export async function listStatus(cluster: Cluster): Promise<ProcessStatus[]> {
  const servers = await listServers(cluster).catch(() => new Map<string, string>()) // the load balancer is down
  return Promise.all(
    cluster.state.processes.map(async (record) => {
      const { name, pid, program } = record
      const backend = name.startsWith('node') ? 'nodes' : 'database'
      const health = isRunning(record) ? await getHealth(cluster, record) : 'exited'
      return { name, pid, port: program?.port, health, balancer: servers.get(`${backend}/${name}`) }
    }),
  )
}

async function getHealth(cluster: Cluster, record: ProcessRecord): Promise<string> {
  try {
    return await checkHealth(cluster, record)
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
}

/** Resolves to the role or state of a process. Rejects if the process does not respond or is not ready. */
export async function checkHealth(cluster: Cluster, record: ProcessRecord): Promise<string> {
  const { name, program: { port } = {} } = record
  const { s3 } = cluster.state
  if (name === 'radosgw' && s3) {
    await fetch(s3.endpoint, { signal: AbortSignal.timeout(5_000) })
    return 'ready'
  }
  if (port === undefined) return 'running'
  if (name === 'redis') {
    await pingRedis(port)
    return 'ready'
  }
  if (name === 'primary' || name === 'standby') {
    return (await query(port, 'select pg_is_in_recovery()')) === 't' ? 'standby' : 'primary'
  }
  return getReadiness(port)
}

export function toTable(rows: ProcessStatus[]): string {
  const cells = rows.map(({ name, pid, port, health, balancer }) => [
    name,
    String(pid),
    port === undefined ? '' : `127.0.0.1:${port}`,
    health,
    balancer ?? '',
  ])
  const table = [['process', 'pid', 'address', 'health', 'balancer'], ...cells]
  const widths = table[0]?.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  return table
    .map((row) => row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}
