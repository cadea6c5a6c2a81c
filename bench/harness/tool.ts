import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '../../testing/programs.ts'
import { readCpuSeconds, readPeakMemory } from './process-usage.ts'

export type Usage = {
  wallSeconds: number
  cpuSeconds: number | undefined
  peakMemoryBytes: number | undefined
}

/** The interval at which a running tool's usage is read; usage after the last reading is not counted. */
const pollIntervalMs = 10

/** Throws if one of these programs is not installed. */
export function needTools(...names: string[]) {
  for (const name of names) needTool(name)
}

/** Returns the path of a program. Throws if it is not installed. */
export function needTool(name: string): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`this benchmark needs ${name}, which is not installed`)
  return path
}

/** Runs a program to completion and measures it. If it fails, throws an error with its output. */
export async function runTool(
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Usage & { output: string }> {
  const startedAt = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  let output = ''
  let complaint = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    complaint += text
  })
  const pid = child.pid ?? 0
  let cpuSeconds: number | undefined
  let peakMemoryBytes: number | undefined
  const reading = setInterval(() => {
    cpuSeconds = readCpuSeconds(pid) ?? cpuSeconds
    peakMemoryBytes = readPeakMemory(pid) ?? peakMemoryBytes
  }, pollIntervalMs)
  try {
    const [code, killedBy] = await once(child, 'close')
    if (code !== 0)
      throw new Error(`${command} exited with ${code ?? killedBy}: ${complaint || output}`)
    const wallSeconds = (performance.now() - startedAt) / 1000
    return { wallSeconds, cpuSeconds, peakMemoryBytes, output }
  } finally {
    clearInterval(reading)
    process.off('exit', endWithUs)
  }
}

/**
 * Returns the total usage of several parts that run one after another: the sum of their times, and the maximum of their
 * memory.
 */
export function inSequence(...parts: Usage[]): Usage {
  const sum = (values: (number | undefined)[]) => values.reduce((a, b) => (a ?? 0) + (b ?? 0), 0)
  return {
    wallSeconds: sum(parts.map((part) => part.wallSeconds)) ?? 0,
    cpuSeconds: sum(parts.map((part) => part.cpuSeconds)),
    peakMemoryBytes: Math.max(...parts.map((part) => part.peakMemoryBytes ?? 0)),
  }
}
