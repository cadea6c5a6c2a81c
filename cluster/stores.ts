/** The services that the nodes share besides the database: Redis, and an S3 store. */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../testing/free-port.ts'
import { needProgram } from '../testing/programs.ts'
import { startCeph } from '../testing/s3/start-ceph.ts'
import { isRunning, launch, run, untilReady } from './processes.ts'
import { type Cluster, saveCluster } from './state.ts'

const storeBytes = 4 * 1024 ** 3
const pingTimeoutMs = 3_000

/** Starts a Redis server that keeps everything in memory. */
export async function startRedis(cluster: Cluster): Promise<void> {
  const port = await freePort()
  const record = launch(cluster, {
    name: 'redis',
    path: needProgram('redis-server'),
    options: ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    port,
  })
  await untilReady(cluster, record, () => pingRedis(port))
  cluster.state.redisUrl = `redis://127.0.0.1:${port}`
  saveCluster(cluster)
}

/** Rejects unless Redis responds. */
export async function pingRedis(port: number): Promise<void> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(pingTimeoutMs) })
    if (!String(answer).startsWith('+PONG')) throw new Error(String(answer))
  } finally {
    socket.destroy()
  }
}

/** Starts an S3 server that keeps everything in memory. */
export async function startStore(cluster: Cluster): Promise<void> {
  const directory = join(cluster.directory, 'ceph')
  mkdirSync(directory)
  const { address } = await startCeph({
    directory,
    bucket: 'models',
    memoryBytes: storeBytes,
    launch(program, options) {
      const record = launch(cluster, { name: program, path: needProgram(program), options })
      return () => isRunning(record)
    },
    run: (program, options) => run(cluster, needProgram(program), options),
  })
  cluster.state.s3 = address
  saveCluster(cluster)
}
