/** What the system says of a process while it runs. Undefined where there is no `/proc`. */
import { readFileSync } from 'node:fs'

/** Clock ticks per second in `/proc`: 100 on every Linux that users see. */
const ticksPerSecond = 100

/** User and system time so far. */
export function readCpuSeconds(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before it may hold anything
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The most memory that the process has had in RAM, in bytes. */
export function readPeakMemory(pid: number): number | undefined {
  const found = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

/** The memory of a process in RAM now, in bytes; what it shares with others is divided between them. */
export function readMemoryShare(pid: number): number | undefined {
  const found = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

/** A process and those that it started. */
export function processTree(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`)?.trim() ?? ''
  const started = children === '' ? [] : children.split(' ').map(Number)
  return [pid, ...started.flatMap(processTree)]
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
