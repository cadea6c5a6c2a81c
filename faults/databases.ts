/** Faults in which PostgreSQL restarts, closes its connections, or stops responding. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Harm, Round } from './fault.ts'
import type { DatabaseServer } from './harness/database-server.ts'
import { type StallingProxy, startStallingProxy } from './harness/stalling-proxy.ts'
import { TimeoutError } from './harness/waiting.ts'
import { inTurn } from './in-turn.ts'

const engines = ['postgres'] as const
const needs = ['PostgreSQL'] as const

export const databaseFaults: Fault[] = [
  {
    name: 'postgres-restarts',
    summary:
      'Restart PostgreSQL in fast mode, crash it (a restart in immediate mode), and close every connection to it repeatedly (pg_terminate_backend), under load.',
    needs,
    engines,
    arrange: () => ({
      // During the crashes, nothing is pushed, because waiting for a lease to expire would add 15 s to each round.
      strike: inTurn(restart('fast', 3), restart('immediate', 0), cutConnections),
    }),
  },
  {
    name: 'postgres-stalled',
    summary:
      'Block all traffic to PostgreSQL for 8 s; on every other seed, send SIGTERM before unblocking it.',
    needs,
    engines,
    async arrange({ databaseUrl = '', cleanup }) {
      const proxy = cleanup.use(await startStallingProxy(databaseUrl))
      return {
        databaseUrl: proxy.url,
        answerTimeoutMs: statementTimeoutMs + 10_000,
        strike: (round) => stall(round, proxy),
      }
    },
  },
]

function restart(mode: 'fast' | 'immediate', push: number): Harm['strike'] {
  return async (round) => {
    const { server } = getDatabaseServer(round)
    await using _ = supervise(round)
    const load = round.startLoad({ weights: { like: 20, download: 20, push } })
    for (let times = 0; times < 2; times += 1) {
      await load.untilDone('like', 20 + round.world.random.integer(20))
      await server.restart(mode)
    }
    await load.untilDone('like', 20)
    await load.stop()
  }
}

async function cutConnections(round: Round) {
  const { databaseUrl = '', world } = round
  await using _ = supervise(round)
  const load = round.startLoad({ weights: { like: 20, download: 20 } })
  await load.untilDone('like', 10)
  for (let cuts = 0; cuts < 20; cuts += 1) {
    await getDatabaseServer(round).query(
      databaseUrl,
      `select count(pg_terminate_backend(pid)) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await sleep(world.random.integer(60))
  }
  await load.untilDone('like', 10)
  await load.stop()
}

/** How long the registry waits for the result of a statement. */
const statementTimeoutMs = 32_000

/** The duration of a stall. It exceeds the time that the registry waits for a connection from its pool (4.5 s). */
const stallMs = 8_000

async function stall(round: Round, proxy: StallingProxy) {
  const { registry, world, seed } = round
  const load = round.startLoad({ weights: { like: 20, download: 20 } })
  await load.untilDone('like', 20 + world.random.integer(20))
  proxy.stall()
  const endsAt = performance.now() + stallMs
  while (performance.now() < endsAt && registry.isRunning()) {
    await world.client.get('/healthz') // the client reports a missing response
    await sleep(200)
  }
  if (seed % 2 === 0) await registry.stop()
  proxy.goOn()
  if (!registry.isRunning()) await registry.start()
  await load.untilDone('like', 20)
  await load.stop()
}

function getDatabaseServer({ databases }: Round): DatabaseServer {
  if (!databases) throw new Error('PostgreSQL is not installed')
  return databases
}

/**
 * Restarts the registry if it exits, so that the round can detect further failures. The exit itself is always
 * reported.
 */
function supervise({ registry }: Round): AsyncDisposable {
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      if (!registry.isRunning()) {
        await registry.start().catch((error) => {
          if (!(error instanceof TimeoutError)) throw error // it exited again, and is restarted by the next iteration
        })
      }
      await sleep(50)
    }
  })()
  watching.catch(() => undefined) // rethrown when it is awaited below
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await watching
    },
  }
}
