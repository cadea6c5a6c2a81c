/** What the system says of a process while it runs. Undefined where there is no `/proc`. */
import { readFileSync } from 'node:fs'

/** Clock ticks per second in `/proc`: 100 on every Linux that users see. */
const ticksPerSecond = 100

/** User and system time so far. */
export function cpuSecondsOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before it may hold anything
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The most memory that the process has had in RAM, in bytes. */
export function peakMemoryOf(pid: number): number | undefined {
  const found = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
