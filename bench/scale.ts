import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, BenchOptions } from './harness/bench.ts'
import { catalogue, modelsWithChunks } from './harness/catalogue.ts'
import { filledDirectory, onEachEngine } from './harness/filled-registry.ts'
import { digits, megabytes } from './harness/numbers.ts'
import { readAnonymousMemory } from './harness/process-usage.ts'
import { queryKinds, searchPaths } from './harness/queries.ts'
import {
  type BenchRegistry,
  type EventLoopDelay,
  type RegistryInput,
  startRegistry,
} from './harness/registry.ts'
import { note, type Report } from './harness/report.ts'
import {
  type Ask,
  askAll,
  findSlowest,
  formatRow,
  type Timed,
  timedGet,
} from './harness/timed-calls.ts'

const callsPerKind = 100
const overviewCalls = 20
const maxLoadMs = 120_000
/** The goals in milliseconds: p99.9 for the event-loop delay, and p95 for everything else. */
const goalsMs = {
  search: 50,
  stats: 30,
  facets: 30,
  'facets of a search or filter': 100,
  delay: 50,
}
const kinds = Object.keys(queryKinds) as (keyof typeof queryKinds)[]

/**
 * Returns the paths of requests other than searches, by name. The work for most of them grows with the number of
 * models.
 */
function overviewPaths(models: number): Record<string, string[]> {
  const [model] = catalogue(models)
  return {
    stats: ['/v1/stats'],
    facets: ['/v1/facets'],
    'facets of a search or filter': [
      '/v1/facets?q=instruct',
      '/v1/facets?q=s',
      '/v1/facets?q=tiny',
      '/v1/facets?architecture=llama',
      '/v1/facets?max_memory_bytes=8000000000',
    ],
    'offset of 90% of all models': [`/v1/models?offset=${Math.floor(models * 0.9)}`],
    'twelve words of one letter': ['/v1/models?q=a+b+c+d+e+f+g+h+i+j+k+l&sort=relevance'],
    'a model': [`/v1/models/${model?.name}`],
    'front page': ['/'],
    'feed of new models': ['/feed.atom'],
    'page of the sitemap': ['/sitemap-1.xml'],
  }
}

export const bench: Bench = {
  summary:
    'searches, totals, event-loop delay and memory, at --models models and at a tenth of them',

  async run(options, report) {
    if (options.only.includes('memory')) return measureMemory(options, report)
    for (const models of [options.models / 10, options.models]) {
      const data = options.data && join(options.data, String(models))
      const sized = { ...options, models, data }
      await onEachEngine(sized, report, (engine, place) => measure(engine, place, sized, report))
    }
  },
}

async function measure(
  engine: string,
  place: RegistryInput,
  options: BenchOptions,
  report: Report,
) {
  report.title(`scale: ${options.models} models on ${engine}`)
  const startedAt = performance.now()
  await using registry = await startRegistry({ ...place, measuresDelay: true })
  const startMs = performance.now() - startedAt
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }))
  // Requests are sent with a token, because responses to anonymous callers are cached.
  const headers = { authorization: `Bearer ${registry.answer.token}` }
  const ask: Ask = (path) => timedGet(registry.answer.url + path, { agent, headers })
  await untilSearchable(registry.answer.url)
  const searchableMs = performance.now() - startedAt
  const memoryAtStart = readAnonymousMemory(registry.pid)

  note(`${engine}: searches`)
  const slowest: Record<string, string> = {}
  const searchRows = []
  const mix: Timed[] = []
  for (const kind of kinds) {
    await askAll(ask, searchPaths(kind, 20)) // warm-up, not counted
    const times = await askAll(ask, searchPaths(kind, callsPerKind))
    mix.push(...times)
    slowest[kind] = findSlowest(times, 1)[0]?.path ?? ''
    searchRows.push(formatRow(kind, times))
  }
  const head = ['calls', 'p50 ms', 'p95 ms', 'max ms']
  report.table(
    [`searches (goal: p95 ≤ ${goalsMs.search} ms)`, ...head],
    [...searchRows, formatRow('all', mix)],
  )

  note(`${engine}: totals and pages`)
  const overviewRows = []
  for (const [name, paths] of Object.entries(overviewPaths(options.models))) {
    await askAll(ask, paths)
    const times = await askAll(ask, Array(overviewCalls).fill(paths).flat())
    slowest[name] = findSlowest(times, 1)[0]?.path ?? ''
    const goal = Object.entries(goalsMs).find(([key]) => key === name)?.[1]
    overviewRows.push([...formatRow(name, times), goal ? `≤ ${goal}` : '–'])
  }
  report.table(['requests', ...head, 'goal, p95 ms'], overviewRows)

  const delayRows = []
  for (const [name, path] of Object.entries(slowest)) {
    note(`${engine}: event-loop delay while ${path} is requested repeatedly`)
    delayRows.push(await measureDelay(name, path, { ask, registry, seconds: options.seconds }))
  }
  report.table(
    [
      'event-loop delay while this request is repeated',
      ...['calls', `p99.9 ms (goal ≤ ${goalsMs.delay})`, 'max ms'],
    ],
    delayRows,
  )

  report.table(
    ['start', ''],
    [
      ['time until the registry listens, ms', digits(startMs)],
      ['time to the first search response, ms', digits(searchableMs)],
      ['memory after the first search, MB', megabytes(memoryAtStart)],
      ['memory after all measurements above, MB', megabytes(readAnonymousMemory(registry.pid))],
    ],
  )
}

type DelayOptions = { ask: Ask; registry: BenchRegistry; seconds: number }

/** Measures the event-loop delay while one caller repeats a request. */
async function measureDelay(name: string, path: string, { ask, registry, seconds }: DelayOptions) {
  const endsAt = performance.now() + seconds * 1000
  await registry.ask('reset')
  let calls = 0
  for (; performance.now() < endsAt; calls += 1) await ask(path)
  const { p999Ms, maxMs } = await registry.ask<EventLoopDelay>('delay')
  return [`${name}: \`${path}\``, calls, digits(p999Ms), digits(maxMs)]
}

const samples = 10
const mixedPerSecond = 20

/**
 * Measures memory under a mixed load of 20 requests per second, for sixty times `--seconds` (an hour with
 * `--seconds 60`).
 */
async function measureMemory(options: BenchOptions, report: Report) {
  const { models, seconds } = options
  report.title(`scale: memory with ${models} models`)
  using directory = await filledDirectory(options)
  await using registry = await startRegistry({ dataDirectory: directory.path })
  const downloads: string[] = []
  for (const { id, files } of catalogue(models)) {
    if (files[0]) downloads.push(`/v1/files/${id}/download/${files[0].id}`)
    if (downloads.length >= modelsWithChunks) break
  }
  const paths = [
    ...kinds.flatMap((kind) => searchPaths(kind, 50)),
    ...Object.values(overviewPaths(models)).flat(),
    ...downloads,
  ]
  using agent = disposable(new Agent({ keepAlive: true }))
  const sampleMs = (60_000 * seconds) / samples
  const rows = []
  let turn = 0
  for (let sample = 1; sample <= samples; sample += 1) {
    note(`memory: sample ${sample} of ${samples}`)
    const endsAt = performance.now() + sampleMs
    while (performance.now() < endsAt) {
      turn += 1
      await Promise.all([
        timedGet(registry.answer.url + paths[(turn * 7919) % paths.length], { agent }),
        sleep(1000 / mixedPerSecond),
      ])
    }
    rows.push([digits((sample * sampleMs) / 60_000), megabytes(readAnonymousMemory(registry.pid))])
  }
  report.table(['minutes of mixed load', 'memory MB'], rows)
}

/**
 * Repeats a search until it succeeds. While the search index is being loaded, the registry lets a search wait for up to
 * 20 s.
 */
async function untilSearchable(url: string) {
  const giveUpAt = performance.now() + maxLoadMs
  for (;;) {
    const response = await fetch(`${url}/v1/models?q=tiny`)
    await response.arrayBuffer()
    if (response.ok) return
    if (performance.now() > giveUpAt)
      throw new Error(`searches still return status ${response.status}`)
  }
}

const disposable = (agent: Agent) =>
  Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() })
