import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { demoModel, writeSyntheticModel } from '@shoal/model-file/testing/synthetic-model'
import type { DaemonInput } from './children/daemon.ts'
import { type Bench, isWanted } from './harness/bench.ts'
import { digits, median } from './harness/numbers.ts'
import { inTurns } from './harness/rounds.ts'
import { startScript } from './harness/script.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { measureStreams } from './harness/token-load.ts'

const loads = [0, 2, 4, 20]
const contextLength = 512
const completionTokens = 20
/** The demo model's end-of-generation tokens, which are excluded so that all responses have the same length. */
const neverTokens = [0, 1, 2]

/**
 * The side with several threads has at least two, even with `--threads 1`, because a single thread never has to
 * synchronize with others.
 */
export const bench: Bench = {
  summary: 'response time on a busy machine: with one thread, with several, and with the default',

  async run(options, report) {
    using folder = temporaryFolder()
    const maxThreads = Math.max(2, options.threads)
    const sides: Record<string, number | undefined> = {
      '1 thread': 1,
      [`${maxThreads} threads`]: maxThreads,
      default: undefined,
    }
    for (const name of ['tiny', '100m-Q4_0', '100m-Q8_0'] as const) {
      if (!isWanted(options, name)) continue
      const models = join(folder.path, name)
      const path = join(models, name, `${name}.gguf`)
      await mkdir(join(models, name), { recursive: true })
      if (name === 'tiny') await copyFile(demoModel, path)
      else await writeSyntheticModel(path, name === '100m-Q4_0' ? 'Q4_0' : 'Q8_0')
      report.title(`threads: a response of ${completionTokens} tokens, ${name}`)
      const rows: string[][] = []
      for (const busy of loads) {
        await using stack = new AsyncDisposableStack()
        const variants: Record<string, () => Promise<number>> = {}
        for (const [side, threads] of Object.entries(sides)) {
          const input: DaemonInput = { models, threads, contextLength }
          const { answer } = stack.use(await startScript<{ url: string }>('daemon', input))
          const load = { model: name, completionTokens, neverTokens }
          await measureStreams(answer.url, { ...load, completionTokens: 1 }, 1)
          variants[side] = () => measureStreams(answer.url, load, 1)
        }
        stack.use(await busyLoops(busy))
        const rounds = await inTurns(options.rounds, variants)
        for (const side of Object.keys(sides)) {
          const perSecond = rounds[side] ?? []
          const seconds = perSecond.map((rate) => completionTokens / rate)
          rows.push([
            String(busy),
            side,
            digits(median(perSecond)),
            digits(median(seconds)),
            seconds.map(digits).join(', '),
          ])
        }
      }
      report.table(
        ['busy processes', 'side', 'tokens/s', 's per response', 's in each round'],
        rows,
      )
    }
  },
}

/** Starts processes that each use a CPU core until the returned object is disposed of. */
async function busyLoops(count: number): Promise<AsyncDisposable> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  const kill = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', kill)
  await Promise.all(children.map((child) => once(child, 'spawn')))
  return {
    async [Symbol.asyncDispose]() {
      process.off('exit', kill)
      const ended = children.map((child) => once(child, 'exit'))
      kill()
      await Promise.all(ended)
    },
  }
}
