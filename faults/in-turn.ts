import { join } from 'node:path'
import type { Harm, Round } from './fault.ts'
import { checkEverything } from './harness/checks.ts'
import { checkSqlite, checkStoreLeftovers, type Query, sqliteQuery } from './harness/leftovers.ts'

/**
 * Returns a strike that does several harms to the same registry, which saves the time to start and fill a registry for
 * each of them. Everything is checked between two harms, so that no harm hides what an earlier one has done.
 */
export function inTurn(...strikes: Harm['strike'][]): Harm['strike'] {
  return async (round) => {
    for (const [index, strike] of strikes.entries()) {
      if (index > 0) await recover(round)
      await strike(round)
    }
  }
}

/** Starts the registry unless it is running, and checks everything, including the store and the database. */
export async function recover(round: Round): Promise<void> {
  const { registry, world, failures, engine } = round
  if (!registry.isRunning()) await registry.start()
  await checkEverything(world)
  await checkStoreLeftovers(registry, createQuery(round), round)
  if (engine === 'sqlite')
    await checkSqlite(join(registry.dataDirectory, 'registry.sqlite'), failures)
}

/** Queries the database directly, even if the registry uses a proxy. */
function createQuery({ databases, databaseUrl, dataDirectory }: Round): Query {
  return databases && databaseUrl !== undefined
    ? (statement) => databases.query(databaseUrl, statement)
    : sqliteQuery(join(dataDirectory, 'registry.sqlite'))
}
