import type { Need } from './needs.ts'
import type { Place, Round } from './round.ts'

export type Engine = 'sqlite' | 'postgres'

/** One way in which a registry's surroundings fail it. */
export type Fault = {
  name: string
  /** One sentence for `--list`. */
  summary: string
  needs: readonly Need[]
  /** The databases on which it is tried, in turn. */
  engines: readonly Engine[]
  /** Makes the surroundings ready before the registry starts for the first time. */
  arrange(place: Place): Harm | Promise<Harm>
}

/** What a fault wants of the surroundings, and does to them. */
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
