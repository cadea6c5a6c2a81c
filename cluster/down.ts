import { removeDirectorySync } from '../testing/remove-directory.ts'
import { stopSignals } from './postgres.ts'
import { end } from './processes.ts'
import type { Cluster } from './state.ts'

/**
 * The order in which groups of processes are stopped. Each group is stopped only after all earlier groups have exited.
 */
const order = [
  /^node\d+$/,
  /^haproxy$/,
  /^(standby|redis|radosgw)$/,
  /^(primary|ceph-osd)$/,
  /^ceph-mon$/,
]
const isPostgres = (name: string) => name === 'primary' || name === 'standby'

/** Stops every process of a cluster, and removes its folder. */
export async function down({ directory, state }: Cluster): Promise<void> {
  for (const group of order) {
    const records = state.processes.filter(({ name }) => group.test(name))
    await Promise.all(
      records.map((record) => end(record, isPostgres(record.name) ? stopSignals.fast : 'SIGTERM')),
    )
  }
  removeDirectorySync(directory)
}
