import { readFileSync } from 'node:fs'
import os from 'node:os'

/**
 * The minimum time between two measurements. Over a shorter time, the resolution of the system's clock (10 ms) is too
 * coarse.
 */
const minWindowMs = 100

/**
 * Processor times in milliseconds. `idleMs` is the idle time since the system started, added up for all cores that this
 * process may use. `ownMs` is the time that this process has used.
 */
export type CpuTimes = { at: number; idleMs: number; ownMs: number }

/**
 * Measures how many cores other processes leave free: idle cores, and cores that this process uses. The meter returns
 * the last measurement if too little time has passed since then, and undefined before the first measurement.
 */
export function freeCoresMeter(read: () => CpuTimes | undefined = readCpuTimes) {
  let last = read()
  let free: number | undefined
  return (at = performance.now()): number | undefined => {
    if (!last || at - last.at < minWindowMs) return free
    const times = read()
    if (!times) return free
    free = (times.idleMs - last.idleMs + times.ownMs - last.ownMs) / (times.at - last.at)
    last = times
    return free
  }
}

/** Reads the processor times. Returns undefined if the system does not report them. */
function readCpuTimes(): CpuTimes | undefined {
  const idleMs = process.platform === 'linux' ? readLinuxIdleMs() : sumIdleMs(os.cpus())
  if (idleMs === undefined) return undefined
  const { user, system } = process.cpuUsage()
  return { at: performance.now(), idleMs, ownMs: (user + system) / 1000 }
}

function sumIdleMs(cpus: os.CpuInfo[]): number | undefined {
  const idleMs = cpus.reduce((sum, { times }) => sum + times.idle, 0)
  return idleMs > 0 ? idleMs : undefined
}

const tickMs = 10 // USER_HZ is 100 on every system that Node supports

/**
 * Adds up the idle time of the processors that this process may use. `taskset` or Docker's `--cpuset-cpus` may restrict
 * them, but `os.cpus()` does not show which processors these are.
 */
function readLinuxIdleMs(): number | undefined {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const allowed = numbersIn(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '')
    const lines = readFileSync('/proc/stat', 'utf8').matchAll(/^cpu(\d+) (.*)$/gm)
    let ticks = 0
    for (const [, cpu, text = ''] of lines) {
      const [, , , idle = 0, waiting = 0] = text.split(' ').map(Number)
      if (allowed.has(Number(cpu))) ticks += idle + waiting
    }
    return ticks > 0 ? ticks * tickMs : undefined
  } catch {
    return undefined // in a sandbox, the files may be missing
  }
}

/** Parses a list such as `0-3,8`. */
function numbersIn(list: string): Set<number> {
  const ranges = list.split(',').map((range) => range.split('-').map(Number))
  return new Set(
    ranges.flatMap(([first = 0, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    ),
  )
}
