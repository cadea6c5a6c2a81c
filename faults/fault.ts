import type { DatabaseServer } from './harness/database-server.ts'
import type { Failures } from './harness/failures.ts'
import type { LoadOptions, startLoad } from './harness/load.ts'
import type { RegistryProcess } from './harness/registry-process.ts'
import type { World } from './harness/world.ts'
import type { Need } from './needs.ts'

export type Engine = 'sqlite' | 'postgres'

/** One way in which a registry's environment can fail. */
export type Fault = {
  name: string
  /** One sentence for `--list`. */
  summary: string
  needs: readonly Need[]
  /** The databases that it is tried with, in turn. */
  engines: readonly Engine[]
  /** Prepares the environment before the registry first starts. */
  arrange(place: Place): Harm | Promise<Harm>
}

/** What a fault needs of the environment, and what it does. */
export type Harm = {
  /** Additional environment variables of the registry. */
  env?: Record<string, string>
  /** The registry's database URL, if it does not connect directly. */
  databaseUrl?: string
  /** How long a response may take. Default 10 s; more only if the harm itself delays responses. */
  answerTimeoutMs?: number
  /** The disk loses writes that were not synced: chunks of unfinished uploads, which the registry then requests again. */
  losesUnsyncedWrites?: boolean
  /** The registry logs to a pipe, which is read only on demand. */
  hasPipedLog?: boolean
  /**
   * Does the harm to a running registry that has data, and undoes it. The registry need not be running afterwards: it is started
   * before the checks.
   */
  strike(round: Round): Promise<void>
}

/** Where a round takes place. */
export type Place = {
  seed: number
  engine: Engine
  /** Deleted at the end of the round. */
  folder: string
  logFolder: string
  dataDirectory: string
  /** Undefined on SQLite. */
  databaseUrl: string | undefined
  /** Undefined if PostgreSQL is not installed. */
  databases: DatabaseServer | undefined
  /** Multiplies every timeout. */
  timeoutFactor: number
  /** Undone in reverse order at the end of the round. */
  cleanup: DisposableStack
}

/** One fault, and the registry that it happens to. */
export type Round = Place & {
  registry: RegistryProcess
  world: World
  failures: Failures
  strike: Harm['strike']
  startLoad(options?: LoadOptions): ReturnType<typeof startLoad>
}
