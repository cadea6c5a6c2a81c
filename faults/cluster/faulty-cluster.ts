import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../../bench/harness/random.ts'
import { listServers } from '../../cluster/balancer.ts'
import { down } from '../../cluster/down.ts'
import { isRunning, killAll } from '../../cluster/processes.ts'
import type { Cluster, ProcessRecord } from '../../cluster/state.ts'
import { checkHealth } from '../../cluster/status.ts'
import { up } from '../../cluster/up.ts'
import { removeDirectorySync } from '../../testing/remove-directory.ts'
import { fill } from '../fill.ts'
import { checkEverything } from '../harness/checks.ts'
import { createClient } from '../harness/client.ts'
import { collectFailures, type Failure, type Failures } from '../harness/failures.ts'
import { openJournal } from '../harness/journal.ts'
import { startLoad } from '../harness/load.ts'
import { TimeoutError, until, within } from '../harness/waiting.ts'
import type { World } from '../harness/world.ts'
import type { ClusterFault } from './cluster-fault.ts'

export type ClusterResult = {
  fault: string
  failures: Failure[]
  /** The time from the end of the fault until all nodes were ready and downloads succeeded again. */
  recoveryMs: number
}

export type FaultyCluster = AsyncDisposable & {
  run(fault: ClusterFault): Promise<ClusterResult>
}

type Options = {
  seed: number
  /** A factor by which every timeout is multiplied. */
  timeoutFactor: number
  logFolder: string
}

/** How long a response may take. A request may have to wait for a statement that PostgreSQL does not finish. */
const answerTimeoutMs = 45_000
/** After this time, a recovery counts as stuck. A recovery usually takes less than a second. */
const recoveryTimeoutMs = 15_000
/** A poll asks the load balancer and each node. */
const recoveryPollMs = 100

/** Starts a cluster on which faults run one after another, each with its own accounts and models. */
export async function openFaultyCluster(options: Options): Promise<FaultyCluster> {
  const { seed, timeoutFactor, logFolder } = options
  const directory = join(tmpdir(), `shoal-faults-cluster-${randomUUID()}`)
  mkdirSync(logFolder, { recursive: true })
  const cluster = await up({
    directory,
    nodes: 3,
    without: new Set(),
    settings: { SHOAL_RATE_LIMITS: 'off' },
    say: () => undefined,
  })
  const abandon = () => {
    killAll(cluster)
    removeDirectorySync(directory)
  }
  process.once('exit', abandon)
  const journal = openJournal(join(logFolder, 'acknowledged.jsonl'))
  const { url, s3 } = cluster.state

  function openWorld(failures: Failures): World {
    const client = createClient({
      origin: () => url,
      timeoutMs: answerTimeoutMs * timeoutFactor,
      failures,
      store: s3?.endpoint,
      isBalanced: true,
    })
    return {
      client,
      ledger: { accounts: [], keys: [], models: [] },
      journal,
      failures,
      contents: new Map(),
      random: randomFrom(seed),
      timeoutFactor,
      isExact: false,
      keepsChunks: true,
      countDelayMs: 3_000,
    }
  }

  async function untilRecovered(load: ReturnType<typeof startLoad>): Promise<number> {
    const startedAt = performance.now()
    const timeoutMs = recoveryTimeoutMs * timeoutFactor
    let states: string[] = []
    const areReady = async () => {
      states = await listStates()
      return states.every((state) => state === 'ready, UP')
    }
    const allReady = until('all nodes are ready', timeoutMs, areReady, recoveryPollMs)
    await within('the recovery of all nodes', timeoutMs, allReady).catch((error) => {
      if (!(error instanceof TimeoutError)) throw error
      throw new TimeoutError(`${error.message}: ${states.join('; ')}`)
    })
    await within('3 downloads', timeoutMs, load.untilDone('download', 3))
    return performance.now() - startedAt
  }

  /**
   * Returns the health of each node and its status in the load balancer: `ready, UP` for a node that works and is used.
   */
  async function listStates(): Promise<string[]> {
    const servers = await listServers(cluster)
    return Promise.all(
      listNodes(cluster).map(async (record) => {
        const health = await checkHealth(cluster, record).catch(
          (error) => `${record.name}: ${error}`,
        )
        return `${health}, ${servers.get(`nodes/${record.name}`)}`
      }),
    )
  }

  return {
    async run(fault) {
      const failures = collectFailures()
      const world = openWorld(failures)
      await fill(world)
      const load = startLoad(world, fault.load)
      let recoveryMs = Number.NaN
      try {
        await load.untilDone('look', 3)
        await fault.strike({ cluster, world, load })
        recoveryMs = await untilRecovered(load)
        await load.stop()
        for (const node of listNodes(cluster)) {
          if (!isRunning(node)) failures.stuck(`${node.name} keeps running`, 'it has exited')
        }
        await checkEverything(world)
      } catch (error) {
        failures.stuck('the fault ends', error instanceof Error ? (error.stack ?? '') : `${error}`)
      } finally {
        load.end()
        world.client.hangUp()
      }
      return { fault: fault.name, failures: failures.list(), recoveryMs }
    },

    async [Symbol.asyncDispose]() {
      process.off('exit', abandon)
      journal[Symbol.dispose]()
      cpSync(join(directory, 'log'), logFolder, { recursive: true })
      await down(cluster)
    },
  }
}

const listNodes = ({ state }: Cluster): ProcessRecord[] =>
  state.processes.filter(({ name }) => /^node\d+$/.test(name))
