/** HAProxy in front of the nodes, and in front of PostgreSQL. */
import { writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { needProgram } from '../testing/programs.ts'
import { balancerConfiguration, maxNodes } from './balancer-configuration.ts'
import { launch, untilReady } from './processes.ts'
import { type Cluster, getProcess } from './state.ts'

const socketOf = ({ directory }: Cluster) => join(directory, 'haproxy.sock')

export async function startBalancer(cluster: Cluster): Promise<void> {
  const { ports } = cluster.state
  const path = join(cluster.directory, 'haproxy.cfg')
  writeFileSync(path, balancerConfiguration({ ...ports, socket: socketOf(cluster) }))
  const record = launch(cluster, {
    name: 'haproxy',
    path: needProgram('haproxy'),
    options: ['-db', '-f', path],
    port: ports.web,
  })
  await untilReady(cluster, record, () => ask(cluster, 'show version'))
  await untilUp(cluster, 'database', 'primary')
}

/** Adds a node, and resolves when the load balancer uses it. */
export async function addToBalancer(cluster: Cluster, name: string, port: number): Promise<void> {
  for (const backend of ['nodes', 'live-nodes']) {
    await ask(cluster, `set server ${backend}/${name} addr 127.0.0.1 port ${port}`)
    await ask(cluster, `set server ${backend}/${name} state ready`)
  }
  await untilUp(cluster, 'nodes', name)
}

/** Resolves when the load balancer uses this server. */
export async function untilUp(cluster: Cluster, backend: string, server: string): Promise<void> {
  await untilReady(cluster, getProcess(cluster, 'haproxy'), async () => {
    const status = (await listServers(cluster)).get(`${backend}/${server}`)
    if (status !== 'UP') throw new Error(`${backend}/${server} is ${status}`)
  })
}

/** Returns the status of each server as HAProxy sees it, such as `UP` or `DOWN`, by backend and name. */
export async function listServers(cluster: Cluster): Promise<Map<string, string>> {
  const [header = '', ...rows] = (await ask(cluster, 'show stat')).trim().split('\n')
  const column = header.split(',').indexOf('status')
  const cells = rows.map((row) => row.split(','))
  return new Map(cells.map((row) => [`${row[0]}/${row[1]}`, row[column] ?? '']))
}

/** @throws if the cluster has the maximum number of nodes */
export function nextNode({ state }: Cluster): number {
  const numbers = state.processes.map(({ name }) => Number(/^node(\d+)$/.exec(name)?.[1] ?? 0))
  const next = Math.max(0, ...numbers) + 1
  if (next > maxNodes) throw new Error(`a cluster can have at most ${maxNodes} nodes`)
  return next
}

/** Sends a command to HAProxy's socket (section 9.3 of its management guide). */
async function ask(cluster: Cluster, command: string): Promise<string> {
  const socket = createConnection(socketOf(cluster))
  socket.write(`${command}\n`)
  return text(socket)
}
