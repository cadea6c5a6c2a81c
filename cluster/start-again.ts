import { untilUp } from './balancer.ts'
import { query } from './postgres.ts'
import { isRunning, launch, untilReady } from './processes.ts'
import { type Cluster, getProcess } from './state.ts'
import { checkHealth } from './status.ts'

/** Starts a process that was killed, with the same data and port, and resolves when it is ready. */
export async function startAgain(cluster: Cluster, name: string): Promise<void> {
  const { program, ...record } = getProcess(cluster, name)
  if (!program) throw new Error(`${name} cannot be started again`)
  if (isRunning(record)) throw new Error(`${name} is already running`)
  if (name === 'ceph-osd')
    throw new Error('ceph-osd cannot be started again: its data was in memory and is lost')
  if (name === 'primary' && (await isPromoted(cluster))) {
    throw new Error(
      'primary cannot be started again: the standby has been promoted, and there can only be one primary',
    )
  }
  const started = launch(cluster, program)
  await untilReady(cluster, started, () => checkHealth(cluster, started))
  if (name.startsWith('node')) await untilUp(cluster, 'nodes', name)
}

async function isPromoted({ state }: Cluster): Promise<boolean> {
  return (await query(state.ports.standby, 'select pg_is_in_recovery()')) === 'f'
}
