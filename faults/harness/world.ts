import type { Random } from '../../bench/harness/random.ts'
import type { Client } from './client.ts'
import type { Content } from './contents.ts'
import type { Failures } from './failures.ts'
import type { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'

/** What operations and checks work on: one registry, and what is known of it. */
export type World = {
  client: Client
  ledger: Ledger
  journal: Journal
  failures: Failures
  /** Published bytes by their SHA-256. */
  contents: Map<string, Content>
  random: Random
  /** Multiplies every time allowed: more than 1 on a busy machine. */
  timeoutFactor: number
  /** A 503 for download information says that it was not counted. PostgreSQL may commit and not get to say so. */
  isExact: boolean
  /** Chunks of an unfinished upload that were stored must stay. */
  keepsChunks: boolean
}

/** A number for names, so that none is used twice in a process. */
let count = 0
export function nextNumber(): number {
  count += 1
  return count
}
