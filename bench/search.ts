import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { startPostgres } from '../testing/postgres.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { fill, filledDirectory } from './harness/filled-registry.ts'
import { digits, percentile } from './harness/numbers.ts'
import { reportProfile } from './harness/profile.ts'
import { queryKinds, searchPaths } from './harness/queries.ts'
import { startRegistry } from './harness/registry.ts'
import { note, type Report } from './harness/report.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'

type Kind = keyof typeof queryKinds
type Timed = { path: string; ms: number }

const queriesPerKind = 150
const timeoutMs = 30_000
const kinds = Object.keys(queryKinds) as Kind[]

/** These requests are not part of the search mix, because a page sends them once for many searches. */
const overviews: Record<string, string> = {
  stats: '/v1/stats',
  facets: '/v1/facets',
  'facets of a common word': '/v1/facets?q=instruct',
  'facets of a rare word': '/v1/facets?q=tiny',
  'facets of an architecture': '/v1/facets?architecture=llama',
}
const overviewRepeats = 9

export const bench: Bench = {
  summary: 'latency of searches, facets and stats at --models models, one call at a time',

  async run(options, report) {
    if (isWanted(options, 'sqlite')) {
      using directory = await filledDirectory(options)
      await measure('SQLite', { dataDirectory: directory.path }, options, report)
    }
    if (isWanted(options, 'postgres')) await onPostgres(options, report)
  },
}

async function onPostgres(options: BenchOptions, report: Report) {
  const postgres = await startPostgres()
  if (!postgres)
    return report.say('PostgreSQL is not installed: the measurements on it are skipped.')
  try {
    using folder = temporaryFolder()
    const place = { dataDirectory: folder.path, databaseUrl: postgres.url }
    await fill({ ...place, models: options.models })
    await measure('PostgreSQL', place, options, report)
  } finally {
    await postgres.stop()
  }
}

async function measure(
  engine: string,
  place: { dataDirectory: string; databaseUrl?: string },
  options: BenchOptions,
  report: Report,
) {
  using folder = temporaryFolder()
  const profile = options.profile ? join(folder.path, 'cpuprofile') : undefined
  const registry = await startRegistry({ ...place, profile })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string) => timedGet(registry.answer.url + path, agent)
  report.title(`search: ${options.models} models on ${engine}, one call at a time`)

  for (const kind of kinds) await askAll(ask, searchPaths(kind, 20)) // warm-up, not counted
  const timesByKind: Record<string, Timed[]> = {}
  for (let round = 1; round <= options.rounds; round += 1) {
    note(`${engine}, round ${round} of ${options.rounds}`)
    for (const kind of kinds) {
      const paths = searchPaths(kind, queriesPerKind + round)
      timesByKind[kind] = [...(timesByKind[kind] ?? []), ...(await askAll(ask, paths))]
    }
  }
  const rows = Object.entries(timesByKind).map(([kind, times]) => formatRow(kind, times))
  const mix = Object.values(timesByKind).flat()
  report.table(
    ['searches', 'calls', 'p50 ms', 'p95 ms', 'max ms'],
    [...rows, formatRow('all (goal: p95 ≤ 20 ms)', mix)],
  )
  report.say(`The slowest searches:\n\n${slowest(mix)}`)

  const overviewRows = []
  for (const [name, path] of Object.entries(overviews)) {
    const times = await askAll(
      ask,
      Array.from({ length: overviewRepeats }, () => path),
    )
    overviewRows.push([name, digits(times[0]?.ms), ...formatRow(name, times.slice(1)).slice(2)])
  }
  report.table(['call', 'first ms', 'p50 ms', 'p95 ms', 'max ms'], overviewRows)

  agent.destroy()
  await registry.stop()
  if (profile) reportProfile(report, `searches on ${engine}`, profile)
}

async function askAll(ask: (path: string) => Promise<Timed>, paths: string[]): Promise<Timed[]> {
  const times: Timed[] = []
  for (const path of paths) times.push(await ask(path))
  return times
}

function timedGet(url: string, agent: Agent): Promise<Timed> {
  return new Promise((resolve, reject) => {
    const path = url.slice(url.indexOf('/v1'))
    const startedAt = performance.now()
    const request = get(url, { agent, timeout: timeoutMs }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
      response.resume()
      response.once('end', () => resolve({ path, ms: performance.now() - startedAt }))
    })
    request.once('error', reject)
    request.once('timeout', () =>
      request.destroy(new Error(`${path}: no response within ${timeoutMs / 1000} s`)),
    )
  })
}

function formatRow(name: string, times: Timed[]) {
  const ms = times.map((one) => one.ms)
  const at = (share: number) => digits(percentile(ms, share))
  return [name, times.length, at(0.5), at(0.95), at(1)]
}

function slowest(times: Timed[]): string {
  const sorted = times.toSorted((a, b) => b.ms - a.ms).slice(0, 8)
  return sorted.map(({ path, ms }) => `- ${digits(ms)} ms \`${path}\``).join('\n')
}
