import { startPostgres } from '../testing/postgres.ts'
import type { Load, LoadInput } from './children/load.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { catalogue, modelsWithChunks } from './harness/catalogue.ts'
import { fill } from './harness/filled-registry.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds } from './harness/process-usage.ts'
import { startRegistry } from './harness/registry.ts'
import { note, type Report } from './harness/report.ts'
import { runScript } from './harness/script.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'

const warmUpSeconds = 1.5
const connections = 64
const goal = 2_000

export const bench: Bench = {
  summary: 'counted downloads per second of one model and of 300 models, on both databases',

  async run(options, report) {
    report.title(`downloads: ${connections} connections`)
    if (isWanted(options, 'sqlite')) {
      using folder = temporaryFolder()
      await measure('SQLite', { dataDirectory: folder.path }, options, report)
    }
    if (!isWanted(options, 'postgres')) return
    const postgres = await startPostgres({ isDurable: true })
    if (!postgres)
      return report.say('PostgreSQL is not installed: the measurements on it are skipped.')
    try {
      using folder = temporaryFolder()
      const place = { dataDirectory: folder.path, databaseUrl: postgres.url }
      await measure('PostgreSQL', place, options, report)
    } finally {
      await postgres.stop()
    }
  },
}

async function measure(
  engine: string,
  place: { dataDirectory: string; databaseUrl?: string },
  { models, rounds, seconds }: BenchOptions,
  report: Report,
) {
  await fill({ databaseUrl: undefined, ...place, models })
  const registry = await startRegistry(place)
  const { url } = registry.answer
  const paths = downloadPaths(models)
  const rows = []
  for (const [name, some] of Object.entries({ 'one model': paths.slice(0, 1), all: paths })) {
    const input: LoadInput = { url, paths: some, status: 200, connections, seconds }
    await runScript<Load>('load', { ...input, seconds: warmUpSeconds })
    const loads = []
    const before = await countDownloads(url)
    const cpuBefore = readCpuSeconds(registry.pid) ?? Number.NaN
    for (let round = 1; round <= rounds; round += 1) {
      note(`${engine}, ${name}: round ${round} of ${rounds}`)
      loads.push(await runScript<Load>('load', input))
    }
    const requests = loads.reduce((sum, load) => sum + load.requests, 0)
    const cpuSeconds = (readCpuSeconds(registry.pid) ?? Number.NaN) - cpuBefore
    const counted = (await countDownloads(url)) - before
    rows.push([
      `${engine}, ${name === 'all' ? `${paths.length} models` : name}`,
      digits(median(loads.map((load) => load.requestsPerSecond))),
      digits(median(loads.map((load) => load.p95Ms))),
      digits((cpuSeconds / requests) * 1e6),
      String(requests),
      String(counted),
    ])
  }
  await registry.stop()
  report.table(
    [
      'downloads',
      `downloads/s (goal ≥ ${goal})`,
      'p95 ms',
      'CPU µs/download',
      'responses',
      'counted',
    ],
    rows,
  )

  async function countDownloads(base: string): Promise<number> {
    let sum = 0
    for (const path of paths) {
      const id = path.split('/')[3]
      const response = await fetch(`${base}/v1/models/${id}`)
      sum += ((await response.json()) as { downloads: number }).downloads
    }
    return sum
  }
}

function downloadPaths(models: number): string[] {
  const paths: string[] = []
  let index = 0
  for (const { id, files } of catalogue(models)) {
    if (index >= Math.min(300, modelsWithChunks)) break
    index += 1
    if (files[0]) paths.push(`/v1/files/${id}/download/${files[0].id}`)
  }
  return paths
}
