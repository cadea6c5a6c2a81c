import type { Load, LoadInput } from './children/load.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { catalogue } from './harness/catalogue.ts'
import { filledDirectory, filledPostgres } from './harness/filled-registry.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds } from './harness/process-usage.ts'
import { type BenchRegistry, type RegistryInput, startRegistry } from './harness/registry.ts'
import type { Report } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { runScript } from './harness/script.ts'

/** The number of model pages that are requested in turn. All of them fit into the cache. */
const modelPages = 100
const goal = 500
/** The response to a request with a cookie is always a newly rendered page, not a cached one. */
const cookie = 'theme=dark'

export const bench: Bench = {
  summary: 'pages per second and per CPU second: rendered for each request, or sent from the cache',

  async run(options, report) {
    await using stack = new AsyncDisposableStack()
    if (isWanted(options, 'sqlite')) {
      const { path: dataDirectory } = stack.use(await filledDirectory(options))
      await measure('SQLite', { dataDirectory }, options, report)
    }
    if (!isWanted(options, 'postgres')) return
    const data = await filledPostgres(options, stack)
    if (!data) return report.say('PostgreSQL is not installed: the measurements on it are skipped.')
    await measure('PostgreSQL', data, options, report)
  },
}

async function measure(engine: string, data: RegistryInput, options: BenchOptions, report: Report) {
  await using registry = await startRegistry(data)
  const pages = { 'front page': ['/'], 'model page': modelPaths(options) }
  const rows = []
  for (const [name, paths] of Object.entries(pages)) {
    await load(registry, { paths, seconds: 1 }, options) // fills the cache
    const rounds = await inTurns(options.rounds, {
      rendered: () => load(registry, { paths, headers: { cookie } }, options),
      cached: () => load(registry, { paths }, options),
    })
    for (const [side, loads] of Object.entries(rounds)) rows.push(formatRow(name, side, loads))
  }
  report.title(`pages: ${options.models} models on ${engine}, ${options.connections} connections`)
  report.table(head, rows)
}

function modelPaths({ models }: BenchOptions): string[] {
  const paths: string[] = []
  for (const { name, isPublic } of catalogue(models)) {
    if (isPublic) paths.push(`/m/${name}`)
    if (paths.length === modelPages) break
  }
  return paths
}

type PageLoad = Load & { cpuMsPerPage: number }
type Pages = Partial<LoadInput> & { paths: string[] }

async function load(
  { pid, answer }: BenchRegistry,
  pages: Pages,
  { connections, seconds }: BenchOptions,
): Promise<PageLoad> {
  const before = readCpuSeconds(pid) ?? Number.NaN
  const input: LoadInput = { url: answer.url, status: 200, connections, seconds, ...pages }
  const result = await runScript<Load>('load', input)
  const spentSeconds = (readCpuSeconds(pid) ?? Number.NaN) - before
  return { ...result, cpuMsPerPage: (spentSeconds / result.requests) * 1000 }
}

const head = [
  'page',
  'answer',
  'pages/s',
  `pages per CPU second (goal ≥ ${goal})`,
  'CPU ms/page',
  'p50 ms',
  'p95 ms',
]

function formatRow(page: string, answer: string, loads: PageLoad[]) {
  const getMedian = (field: keyof PageLoad) => median(loads.map((one) => one[field]))
  const cpuMs = getMedian('cpuMsPerPage')
  const figures = [getMedian('requestsPerSecond'), 1000 / cpuMs, cpuMs]
  return [page, answer, ...[...figures, getMedian('p50Ms'), getMedian('p95Ms')].map(digits)]
}
