import { freePort } from '../testing/free-port.ts'
import { findPostgresBinaries } from '../testing/postgres.ts'
import { findProgram } from '../testing/programs.ts'
import { removeDirectorySync } from '../testing/remove-directory.ts'
import { isCephInstalled } from '../testing/s3/start-ceph.ts'
import { startBalancer } from './balancer.ts'
import { addNode } from './nodes.ts'
import { startPostgres } from './postgres.ts'
import { killAll } from './processes.ts'
import { type Cluster, createCluster } from './state.ts'
import { startRedis, startStore } from './stores.ts'

/** The optional services of a cluster. */
export type Optional = 's3' | 'redis'

type Options = {
  directory: string
  nodes: number
  without: ReadonlySet<Optional>
  /** `SHOAL_…` variables for the nodes. */
  settings: Record<string, string>
  say: (line: string) => void
}

/** Starts a cluster. If the start fails, everything that has been started is stopped and removed. */
export async function up({ directory, nodes, without, settings, say }: Options): Promise<Cluster> {
  if (without.has('s3') && nodes > 1) {
    throw new Error('without S3, each node has its own files: add --nodes 1')
  }
  const missing = findMissing(without)
  if (missing.length > 0) {
    throw new Error(`not installed: ${missing.join(', ')}; run scripts/install-test-packages`)
  }
  const [web, database, primary, standby] = await Promise.all(Array.from({ length: 4 }, freePort))
  if (!web || !database || !primary || !standby) throw new Error('the system has no free ports')
  const cluster = createCluster(directory, {
    url: `http://127.0.0.1:${web}`,
    ports: { web, database, primary, standby },
    settings,
    processes: [],
  })
  const abandon = () => {
    killAll(cluster)
    removeDirectorySync(directory) // with retries, because PostgreSQL's child processes exit last
  }
  process.once('exit', abandon)

  await Promise.all([
    startPostgres(cluster).then(() => say('PostgreSQL: a primary and a standby')),
    !without.has('redis') && startRedis(cluster).then(() => say('Redis')),
    !without.has('s3') && startStore(cluster).then(() => say('S3: radosgw')),
  ])
  await startBalancer(cluster)
  const started = await Promise.all(Array.from({ length: nodes }, () => addNode(cluster)))
  for (const { name, port } of started) say(`${name}: http://127.0.0.1:${port}`)
  process.off('exit', abandon)
  return cluster
}

/** Returns the programs that a cluster needs and this machine does not have. */
export function findMissing(without: ReadonlySet<Optional>): string[] {
  const needs = {
    PostgreSQL: findPostgresBinaries() !== undefined,
    HAProxy: findProgram('haproxy') !== undefined,
    Redis: without.has('redis') || findProgram('redis-server') !== undefined,
    'an S3 server (radosgw)': without.has('s3') || isCephInstalled(),
  }
  return Object.entries(needs).flatMap(([name, isThere]) => (isThere ? [] : name))
}
