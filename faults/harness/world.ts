import type { Random } from '../../bench/harness/random.ts'
import type { Client } from './client.ts'
import type { Content } from './contents.ts'
import type { Failures } from './failures.ts'
import type { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'

/** The context of operations and checks: a registry's client, and what is known about the registry. */
export type World = {
  client: Client
  ledger: Ledger
  journal: Journal
  failures: Failures
  /** Published bytes by their SHA-256. */
  contents: Map<string, Content>
  random: Random
  /** A factor by which every timeout is multiplied; it is more than 1 on a busy machine. */
  timeoutFactor: number
  /**
   * Whether a 503 for download information means that the download was not counted. This is uncertain with PostgreSQL,
   * which may commit without being able to confirm the commit.
   */
  isExact: boolean
  /** How long it may take until the other nodes show a download that one node has counted. */
  countDelayMs: number
  /** Whether the stored chunks of a file that is not ready yet must remain stored. */
  keepsChunks: boolean
}

let count = 0
/** Returns a higher number on each call, for names that are unique in this process. */
export function nextNumber(): number {
  count += 1
  return count
}
