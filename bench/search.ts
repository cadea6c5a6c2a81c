import { Agent } from 'node:http'
import { join } from 'node:path'
import type { Bench, BenchOptions } from './harness/bench.ts'
import { onEachEngine } from './harness/filled-registry.ts'
import { digits } from './harness/numbers.ts'
import { reportProfile } from './harness/profile.ts'
import { queryKinds, searchPaths } from './harness/queries.ts'
import { type RegistryInput, startRegistry } from './harness/registry.ts'
import { note, type Report } from './harness/report.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { askAll, findSlowest, formatRow, type Timed, timedGet } from './harness/timed-calls.ts'

type Kind = keyof typeof queryKinds

const queriesPerKind = 150
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

  run: (options, report) =>
    onEachEngine(options, report, (engine, place) => measure(engine, place, options, report)),
}

async function measure(
  engine: string,
  place: RegistryInput,
  options: BenchOptions,
  report: Report,
) {
  using folder = temporaryFolder()
  const profile = options.profile ? join(folder.path, 'cpuprofile') : undefined
  const registry = await startRegistry({ ...place, profile })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string) => timedGet(registry.answer.url + path, { agent })
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
  const slowest = findSlowest(mix, 8).map(({ path, ms }) => `- ${digits(ms)} ms \`${path}\``)
  report.say(`The slowest searches:\n\n${slowest.join('\n')}`)

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
