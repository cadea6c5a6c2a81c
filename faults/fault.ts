import type { DatabaseServer } from './harness/database-server.ts'
import type { Failures } from './harness/failures.ts'
import type { LoadOptions, startLoad } from './harness/load.ts'
import type { RegistryProcess } from './harness/registry-process.ts'
import type { World } from './harness/world.ts'
import type { Need } from './needs.ts'

export type Engine = 'sqlite' | 'postgres'

/** One way in which a registry's environment fail it. */
export type Fault = {
  name: string
  /** One sentence for `--list`. */
  summary: string
  needs: readonly Need[]
  /** The databases on which it is tried, in turn. */
  engines: readonly Engine[]
  /** Makes the environment ready before the registry starts for the first time. */
  arrange(place: Place): Harm | Promise<Harm>
}

/** What a fault wants of the environment, and does to them. */
export type Harm = {
  /** More environment for the registry. */
  env?: Record<string, string>
  /** By which way the registry reaches its database, if not directly. */
  databaseUrl?: string
  /** The longest that an answer may take; 10 s unless the harm itself makes callers wait. */
  answerTimeoutMs?: number
  /** The disk loses what was written and not synced: chunks of an unfinished upload, which the registry then asks for again. */
  losesUnsyncedWrites?: boolean
  /** The registry's log goes into a pipe that is not read by itself. */
  hasPipedLog?: boolean
  /**
   * Does the harm to a registry that is running and holds data, and lifts it again. The registry need not be running afterwards: it is
   * started again before everything is checked.
   */
  strike(round: Round): Promise<void>
}

/** Where a round takes place. */
export type Place = {
  seed: number
  engine: Engine
  /** Everything of the round that is thrown away at its end. */
  folder: string
  logFolder: string
  dataDirectory: string
  /** Undefined on SQLite. */
  databaseUrl: string | undefined
  /** Undefined where PostgreSQL is not installed. */
  databases: DatabaseServer | undefined
  /** Multiplies every time allowed. */
  timeoutFactor: number
  /** Undone in reverse order at the end of the round. */
  cleanup: DisposableStack
}

/** One registry with what is known of it, for one fault. */
export type Round = Place & {
  registry: RegistryProcess
  world: World
  failures: Failures
  strike: Harm['strike']
  startLoad(options?: LoadOptions): ReturnType<typeof startLoad>
}
