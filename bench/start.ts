import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../testing/free-port.ts'
import type { Bench } from './harness/bench.ts'
import { filledDirectory } from './harness/filled-registry.ts'
import { digits, median, megabytes } from './harness/numbers.ts'
import { readCpuSeconds, readPeakMemory } from './harness/process-usage.ts'
import { inTurns } from './harness/rounds.ts'
import { shoalProgram } from './harness/shoal.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { runTool, type Usage } from './harness/tool.ts'
import { untilAnswered } from './harness/until-answered.ts'

const goalMs = 600

export const bench: Bench = {
  summary: 'time from the start of `shoal registry` to its first response',

  async run(options, report) {
    using filled = await filledDirectory(options)
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const rounds = await inTurns(options.rounds, {
      'empty folder': async () => {
        rmSync(data, { recursive: true, force: true })
        return start(data)
      },
      'same folder again': () => start(data),
      [`${options.models} models`]: () => start(filled.path),
      '`node -e 0`, for comparison': () => runTool(process.execPath, ['-e', '0']),
    })
    report.title(`start: goal ≤ ${goalMs} ms`)
    report.table(
      ['data folder', 'duration, ms', 'slowest, ms', 'CPU ms', 'peak memory MB'],
      Object.entries(rounds).map(([name, usages]) => {
        const ms = usages.map(({ wallSeconds }) => wallSeconds * 1000)
        return [
          name,
          digits(median(ms)),
          digits(Math.max(...ms)),
          digits(median(usages.map(({ cpuSeconds }) => (cpuSeconds ?? Number.NaN) * 1000))),
          megabytes(median(usages.map(({ peakMemoryBytes }) => peakMemoryBytes ?? Number.NaN))),
        ]
      }),
    )
  },
}

async function start(data: string): Promise<Usage> {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [shoalProgram, 'registry', '--quiet', '--data', data, '--port', String(port)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs))
  const ms = await untilAnswered(`http://localhost:${port}/readyz`)
  const pid = child.pid ?? 0
  const usage = {
    wallSeconds: ms / 1000,
    cpuSeconds: readCpuSeconds(pid),
    peakMemoryBytes: readPeakMemory(pid),
  }
  child.kill('SIGTERM')
  await exited
  return usage
}
