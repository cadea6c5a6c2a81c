import { readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'

/** Bytes of memory that this process may use: of the machine, or of the container that it runs in. */
export function constrainedMemory(): number {
  const limit = process.constrainedMemory()
  const total = os.totalmem()
  return limit > 0 && limit < total ? limit : total
}

/**
 * Cores that compute by themselves and that this process may use. Two threads that share a core only stand in each other's
 * way, and more threads than cores are far worse: llama.cpp's wait for each other without giving way.
 */
export function usableCores(): number {
  return Math.max(1, Math.min(os.availableParallelism(), physicalCores() ?? os.cpus().length))
}

const processors = '/sys/devices/system/cpu'

/** As Linux tells which of its processors share a core; undefined elsewhere. */
function physicalCores(): number | undefined {
  try {
    const names = readdirSync(processors).filter((name) => /^cpu\d+$/.test(name))
    const read = (name: string) =>
      readFileSync(`${processors}/${name}/topology/thread_siblings_list`, 'utf8')
    return new Set(names.map(read)).size || undefined
  } catch {
    return undefined // another system, or one that does not show it
  }
}
