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
  /** A sentence that `--list` prints. */
  summary: string
  needs: readonly Need[]
  /** The databases with which the fault is tested, in turn. */
  engines: readonly Engine[]
  /** Prepares the environment before the first start of the registry. */
  arrange(place: Place): Harm | Promise<Harm>
}

/** How a fault changes the registry's environment, and the harm that it does to the running registry. */
export type Harm = {
  /** Additional environment variables of the registry. */
  env?: Record<string, string>
  /** The registry's database URL, if the registry does not connect to the database directly. */
  databaseUrl?: string
  /** How long a response may take. Default: 10 s; longer only if the harm itself delays responses. */
  answerTimeoutMs?: number
  /**
   * Whether the disk loses unsynced writes. Only chunks of files that are not ready yet can be lost, because the
   * registry syncs a file's chunks when it processes the file. The registry requests lost chunks again, even if the
   * file has been submitted.
   */
  losesUnsyncedWrites?: boolean
  /** Whether the registry logs to a pipe, which is read only on demand. */
  hasPipedLog?: boolean
  /**
   * Harms a running registry that contains data, and then undoes the harm. The registry need not be running
   * afterwards, because it is started before the checks.
   */
  strike(round: Round): Promise<void>
}

/** The environment of a round. */
export type Place = {
  seed: number
  engine: Engine
  /** A folder that is deleted at the end of the round. */
  folder: string
  logFolder: string
  dataDirectory: string
  /** The URL of the PostgreSQL database; undefined if the registry uses SQLite. */
  databaseUrl: string | undefined
  /** The PostgreSQL server; undefined if PostgreSQL is not installed. */
  databases: DatabaseServer | undefined
  /** A factor by which every timeout is multiplied. */
  timeoutFactor: number
  /** Changes to undo at the end of the round, in reverse order. */
  cleanup: DisposableStack
}

/** A round: one run of a fault, with its own registry. */
export type Round = Place & {
  registry: RegistryProcess
  world: World
  failures: Failures
  strike: Harm['strike']
  startLoad(options?: LoadOptions): ReturnType<typeof startLoad>
}
