import type { Harm, Round } from './fault.ts'
import { checkEverything } from './harness/checks.ts'

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

/** Starts the registry unless it is running, and checks everything. */
export async function recover({ registry, world }: Round): Promise<void> {
  if (!registry.isRunning()) await registry.start()
  await checkEverything(world)
}
