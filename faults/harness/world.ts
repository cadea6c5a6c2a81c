import type { Random } from '../../bench/harness/random.ts'
import type { Client } from './client.ts'
import type { Content } from './contents.ts'
import type { Failures } from './failures.ts'
import type { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'

/** What operations and checks work with: one registry, and what is known about it. */
export type World = {
  client: Client
  ledger: Ledger
  journal: Journal
  failures: Failures
  /** Published bytes by their SHA-256. */
  contents: Map<string, Content>
  random: Random
  /** Multiplies every timeout: more than 1 on a busy machine. */
  timeoutFactor: number
  /** A 503 for download information means that it was not counted. PostgreSQL may commit without being able to confirm it. */
  isExact: boolean
  /** Stored chunks of an unfinished upload must stay stored. */
  keepsChunks: boolean
}

/** Returns a new number, for names that are unique in this process. */
let count = 0
export function nextNumber(): number {
  count += 1
  return count
}
