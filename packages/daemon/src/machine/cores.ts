import { readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'

/**
 * The number of physical cores that this process may use. Two threads on one core only slow each other down. More
 * threads than processors are far slower, because llama.cpp's threads spin while they wait for each other.
 */
export function usableCores(): number {
  return Math.max(1, Math.min(os.availableParallelism(), physicalCores() ?? os.cpus().length))
}

const processors = '/sys/devices/system/cpu'

/** The number of physical cores. Only Linux reports which processors share a core; undefined on other systems. */
function physicalCores(): number | undefined {
  try {
    const names = readdirSync(processors).filter((name) => /^cpu\d+$/.test(name))
    const read = (name: string) =>
      readFileSync(`${processors}/${name}/topology/thread_siblings_list`, 'utf8')
    return new Set(names.map(read)).size || undefined
  } catch {
    return undefined // another system, or a Linux system without this information
  }
}
