import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Fault, Round } from './fault.ts'
import { fill } from './fill.ts'
import type { DatabaseServer } from './harness/database-server.ts'
import type { Failure } from './harness/failures.ts'
import { checkOpenFiles, checkTemporaryFolder } from './harness/leftovers.ts'
import { TimeoutError, within } from './harness/waiting.ts'
import { recover } from './in-turn.ts'
import { getTemporaryFolder, openRound } from './round.ts'

export type RunOptions = {
  rounds: number
  seed: number
  /** A factor by which every timeout is multiplied; 1 is for an idle machine. */
  timeoutFactor: number
  databases: DatabaseServer | undefined
  logFolder: string
  /** Called when a round ends. */
  onRound(round: RoundResult): void
}

export type RoundResult = {
  fault: string
  round: number
  /** The value of `--seed` that repeats this round, as the first round of a run. */
  seed: number
  engine: string
  seconds: number
  failures: Failure[]
  /** The folder with the round's logs, if something failed. */
  logFolder: string | undefined
}

/** A round, with up to four harms, that takes longer than this counts as failed. */
export const roundTimeoutMs = 300_000
/** The maximum size of the registry's PostgreSQL pool, which opens connections as needed. */
const poolSockets = 10

/** Runs rounds of one fault, each with its own registry and seed. */
export async function runFault(fault: Fault, options: RunOptions): Promise<RoundResult[]> {
  const results: RoundResult[] = []
  for (let number = 0; number < options.rounds; number += 1) {
    const seed = options.seed + number
    const logFolder = join(options.logFolder, `${fault.name}-${seed}`)
    const startedAt = performance.now()
    const round = await openRound(fault, { ...options, seed, logFolder })
    try {
      await within('the round', roundTimeoutMs * options.timeoutFactor, live(round))
    } catch (error) {
      const seen = error instanceof TimeoutError ? error.message : String(inspect(error))
      round.failures.stuck('the round ends', seen)
    } finally {
      await round.registry.kill()
      round.cleanup.dispose()
    }
    const failures = round.failures.list()
    if (failures.length === 0) rmSync(logFolder, { recursive: true })
    const result = {
      fault: fault.name,
      round: number + 1,
      seed,
      engine: round.engine,
      seconds: (performance.now() - startedAt) / 1000,
      failures,
      logFolder: failures.length === 0 ? undefined : logFolder,
    }
    options.onRound(result)
    results.push(result)
  }
  return results
}

async function live(round: Round) {
  const { registry, world, failures, timeoutFactor, engine } = round
  await registry.start()
  await fill(world)
  await world.client.get('/v1/stats') // starts the search index thread, so that its open files are included in `atRest`
  world.client.hangUp()
  const atRest = registry.openFiles()

  await round.strike(round)

  await recover(round)
  world.client.hangUp()
  const morePoolSockets = engine === 'postgres' ? poolSockets : 0
  await checkOpenFiles(registry, atRest, { failures, timeoutFactor, morePoolSockets })
  await registry.stop()
  checkTemporaryFolder(getTemporaryFolder(round.folder), failures)
}
