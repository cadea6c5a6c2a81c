/** The resource usage of a running process; undefined on systems without `/proc`. */
import { readFileSync } from 'node:fs'

/** Clock ticks per second in `/proc`: always 100 in user space on Linux. */
const ticksPerSecond = 100

/** Returns the user and system time that a process has used so far. */
export function readCpuSeconds(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before `)` may contain any character
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Returns the peak resident memory of a process, in bytes. */
export function readPeakMemory(pid: number): number | undefined {
  const found = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

/**
 * Returns the current resident memory of a process, in bytes. Memory shared by several processes is divided among them
 * (PSS).
 */
export function readMemoryShare(pid: number): number | undefined {
  const found = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

/** Returns the current resident memory of a process in bytes, without mapped files. */
export function readAnonymousMemory(pid: number): number | undefined {
  const found = /^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

/** Returns the process IDs of a process and its descendants. */
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
