import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeGgufFile } from '@shoal/model-file/testing'
import { registryClient } from '@shoal/protocol/client'
import type { Bench } from './harness/bench.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds, readPeakMemory } from './harness/process-usage.ts'
import { filename, modelName } from './harness/published-file.ts'
import { type BenchRegistry, startRegistry } from './harness/registry.ts'
import { note } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { runShoal } from './harness/shoal.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'
import { inSequence, needTools, runTool, type Usage } from './harness/tool.ts'
import { reportUsage } from './harness/usage-table.ts'

export const bench: Bench = {
  summary: 'shoal push of one file, until the file is ready, against cp with sha256sum',

  async run(options, report) {
    await needRoom(options.sizeBytes * 3.5)
    needTools('cp', 'sha256sum', 'sync')
    using folder = temporaryFolder()
    const source = join(folder.path, filename)
    note(`creating a file of ${options.sizeBytes} bytes`)
    await writeGgufFile(source, options.sizeBytes)
    report.title(`push: ${(options.sizeBytes / 2 ** 30).toFixed(1)} GiB over loopback`)

    const target = join(folder.path, 'target')
    const copy = join(target, filename)
    let registryUsage: Usage[] = []
    const untilReadyMs: number[] = []
    const push = async () => {
      await using registry = await startRegistry({ dataDirectory: join(target, 'registry') })
      const before = readCpuSeconds(registry.pid) ?? 0
      const home = join(target, 'home')
      const words = ['push', source, '--name', modelName]
      const ended = new AbortController()
      const measuring = measureUntilReady(registry, ended.signal)
      const pushed = await runShoal(words, { home, registry: registry.answer }).finally(() =>
        ended.abort(),
      )
      untilReadyMs.push(await measuring)
      const cpuSeconds = (readCpuSeconds(registry.pid) ?? Number.NaN) - before
      const peakMemoryBytes = readPeakMemory(registry.pid)
      registryUsage = [
        ...registryUsage,
        { wallSeconds: pushed.wallSeconds, cpuSeconds, peakMemoryBytes },
      ]
      return pushed
    }
    const copyAndHash = async () =>
      inSequence(await runTool('cp', [source, copy]), await runTool('sha256sum', [copy]))
    const fromEmpty = (side: () => Promise<Usage>) => async () => {
      rmSync(target, { recursive: true, force: true })
      mkdirSync(target)
      await runTool('sync', [])
      return side()
    }
    const rounds = await inTurns(options.rounds, {
      'shoal push': fromEmpty(push),
      'cp, sha256sum': fromEmpty(copyAndHash),
      'cp, sync, sha256sum': fromEmpty(async () =>
        inSequence(await copyAndHash(), await runTool('sync', [copy])),
      ),
    })
    const withRegistry = { ...rounds, 'registry, during the push': registryUsage }
    reportUsage(report, withRegistry, 'cp, sha256sum')
    report.say(`From the last chunk to \`ready\`: ${digits(median(untilReadyMs))} ms (goal ≤ 300).`)
    report.say(
      'A push hashes the file and sends it. The registry verifies each chunk as it arrives, and finally hashes the stored file and syncs it to disk.',
    )
  },
}

const pollIntervalMs = 100

/**
 * Polls the state of the file that is being pushed, until `ended` is aborted. Returns the number of milliseconds during
 * which it was neither uploading nor ready.
 */
async function measureUntilReady({ answer }: BenchRegistry, ended: AbortSignal): Promise<number> {
  const client = registryClient({ baseUrl: answer.url, token: answer.token })
  let completeAt: number | undefined
  let readyAt: number | undefined
  while (!ended.aborted) {
    const files = await client.listFiles(modelName, { status: 'all' }).catch(() => []) // not created yet
    const status = files[0]?.status
    if (status !== undefined && status !== 'uploading') completeAt ??= performance.now()
    if (status === 'ready') readyAt ??= performance.now()
    await sleep(pollIntervalMs)
  }
  return completeAt === undefined ? Number.NaN : (readyAt ?? performance.now()) - completeAt
}
