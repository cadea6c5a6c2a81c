import os from 'node:os'

/** Bytes of memory that this process may use: of the machine, or of the container that it runs in. */
export function constrainedMemory(): number {
  const limit = process.constrainedMemory()
  const total = os.totalmem()
  return limit > 0 && limit < total ? limit : total
}

/** Cores that compute by themselves: two threads that share one core only stand in each other's way. */
export function availableParallelism(): number {
  return Math.max(1, os.availableParallelism())
}
