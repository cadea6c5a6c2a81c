import { join } from 'node:path'
import type { BareAnswer } from './children/bare.ts'
import type { Load, LoadInput } from './children/load.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { type CatalogueFile, catalogue, modelsWithChunks } from './harness/catalogue.ts'
import { filledDirectory, filledPostgres } from './harness/filled-registry.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds } from './harness/process-usage.ts'
import { reportProfile } from './harness/profile.ts'
import { queryKinds, searchPaths } from './harness/queries.ts'
import { type RegistryInput, startRegistry } from './harness/registry.ts'
import { note, type Report } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { runScript, startScript } from './harness/script.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'

type Endpoint = {
  paths: string[]
  status: number
  /** Paths that another client requests during the measurement, at ten requests per second. */
  meanwhile?: string[]
  isOnPostgres?: boolean
  /** The minimum ratio of shoal's requests per second to those of the bare route. */
  goal?: number
}
type LoadRound = Load & { cpuMicrosPerRequest: number }

const warmUpSeconds = 1.5
/** How many different paths are requested for each endpoint, one after another. */
const pathsEach = 300
/**
 * The maximum number of chunks that are requested for `new chunks`. They do not all fit into the registry's cache, so
 * the cache has dropped each chunk's response before the chunk is requested again.
 */
const maxNewChunks = 8_000

export const bench: Bench = {
  summary: 'API requests per second at --models models, against a bare Fastify route',

  async run(options, report) {
    await using stack = new AsyncDisposableStack()
    const endpoints = endpointsFor(options)
    const wanted = Object.entries(endpoints).filter(([name]) => isWanted(options, name))
    const filled: { sqlite?: RegistryInput; postgres?: RegistryInput | undefined } = {}
    const findData = async ({ isOnPostgres }: Endpoint) => {
      if (isOnPostgres) {
        filled.postgres ??= await filledPostgres(options, stack)
        return filled.postgres
      }
      filled.sqlite ??= { dataDirectory: stack.use(await filledDirectory(options)).path }
      return filled.sqlite
    }
    report.title(`api: ${options.models} models, ${options.connections} connections`)
    const rows = []
    for (const [name, endpoint] of wanted) {
      const data = await findData(endpoint)
      if (!data) {
        report.say(`PostgreSQL is not installed: ${name} is skipped.`)
        continue
      }
      await using registry = await startRegistry(data)
      const answers = await collectAnswers(registry.answer.url, endpoint)
      await using bare = await startScript<{ url: string }>('bare', { answers })
      const sides = { shoal: registry, bare }
      for (const { answer } of Object.values(sides)) {
        await load(answer.url, endpoint, { ...options, seconds: warmUpSeconds })
      }
      const rounds = await inTurns(options.rounds, {
        shoal: () => measuredLoad(registry, endpoint, options),
        bare: () => measuredLoad(bare, endpoint, options),
      })
      const ratio = formatRow(rounds.shoal ?? [], rounds.bare ?? [])
      rows.push([name, endpoint.goal ? `≥ ${endpoint.goal}` : '–', ...ratio])
    }
    report.table(head, rows)
    if (!options.profile) return
    for (const [name, endpoint] of wanted) {
      const data = await findData(endpoint)
      if (data) await profileEndpoint(name, endpoint, data, options, report)
    }
  },
}

function endpointsFor({ models }: BenchOptions): Record<string, Endpoint> {
  const every = Math.max(1, Math.floor(models / pathsEach))
  const names: string[] = []
  const downloads: string[] = []
  const chunks: string[] = []
  const newChunks: string[] = []
  let index = 0
  for (const { id, name, isPublic, files } of catalogue(models)) {
    const [file] = files
    if (index % every === 0 && isPublic) names.push(`/v1/models/${name}`)
    if (file && index < Math.min(pathsEach, modelsWithChunks)) {
      downloads.push(`/v1/files/${id}/download/${file.id}`)
      const paths = chunkPaths(file)
      chunks.push(paths[1] ?? '')
      newChunks.push(...paths)
    }
    index += 1
  }
  const kinds = Object.keys(queryKinds) as (keyof typeof queryKinds)[]
  const searches = kinds.flatMap((kind) => searchPaths(kind, Math.floor(pathsEach / kinds.length)))
  const list = { paths: ['/v1/models'], status: 200, goal: 0.75 }
  const model = { paths: names, status: 200, goal: 0.75 }
  const download = { paths: downloads, status: 200, goal: 0.4 }
  return {
    list,
    'list while downloads are counted': {
      paths: ['/v1/models'],
      status: 200,
      meanwhile: downloads,
    },
    search: { paths: searches, status: 200, goal: 0.75 },
    model,
    download,
    chunk: { paths: chunks, status: 302, goal: 0.5 },
    'new chunks': { paths: newChunks.slice(0, maxNewChunks), status: 302, goal: 0.5 },
    'list on PostgreSQL': { ...list, isOnPostgres: true },
    'model on PostgreSQL': { ...model, isOnPostgres: true },
    'download on PostgreSQL': { ...download, isOnPostgres: true, goal: 0.2 },
  }
}

function chunkPaths({ chunkHashes }: CatalogueFile): string[] {
  const hex = Buffer.from(chunkHashes).toString('hex')
  return (hex.match(/.{64}/g) ?? []).map((hash) => `/v1/files/chunks/${hash}`)
}

/** Collects the registry's responses, so that the bare server can send the same responses. */
async function collectAnswers(url: string, { paths, status }: Endpoint): Promise<BareAnswer[]> {
  const answers: BareAnswer[] = []
  for (const path of paths) {
    const response = await fetch(url + path, { redirect: 'manual' })
    if (response.status !== status)
      throw new Error(`${path} returned status ${response.status}, not ${status}`)
    const headers = Object.fromEntries(
      [...response.headers].filter(([name]) => !isMadePerRequest(name)),
    )
    answers.push({ path, status, headers, body: await response.text() })
  }
  return answers
}

/** Whether a header differs between responses, or is added by every server. */
function isMadePerRequest(name: string): boolean {
  const ofAnyServer = ['date', 'connection', 'keep-alive', 'content-length']
  return ofAnyServer.includes(name) || name === 'x-request-id' || name.startsWith('ratelimit-')
}

function load(url: string, { paths, status }: Endpoint, { connections, seconds }: BenchOptions) {
  const input: LoadInput = { url, paths, status, connections, seconds }
  return runScript<Load>('load', input)
}

/** Requests the paths in turn, ten per second, until the returned object is disposed of. */
function askNowAndThen(url: string, paths: string[]): Disposable {
  let turn = 0
  const timer = setInterval(() => {
    const path = paths[turn++ % paths.length] ?? ''
    fetch(url + path).then((response) => response.arrayBuffer(), note)
  }, 100)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

async function measuredLoad(
  { pid, answer }: { pid: number; answer: { url: string } },
  endpoint: Endpoint,
  options: BenchOptions,
): Promise<LoadRound> {
  using _others = endpoint.meanwhile && askNowAndThen(answer.url, endpoint.meanwhile)
  const before = readCpuSeconds(pid) ?? Number.NaN
  const result = await load(answer.url, endpoint, options)
  const spent = (readCpuSeconds(pid) ?? Number.NaN) - before
  return { ...result, cpuMicrosPerRequest: (spent / result.requests) * 1e6 }
}

const head = [
  'endpoint',
  'goal',
  'shoal req/s',
  'bare req/s',
  'ratio',
  'shoal p50 ms',
  'shoal p95 ms',
  'bare p50 ms',
  'bare p95 ms',
  'shoal CPU µs/req',
  'bare CPU µs/req',
]

function formatRow(shoal: LoadRound[], bare: LoadRound[]) {
  const getMedian = (rounds: LoadRound[], field: keyof LoadRound) =>
    median(rounds.map((one) => one[field]))
  const ratio = getMedian(shoal, 'requestsPerSecond') / getMedian(bare, 'requestsPerSecond')
  return [
    digits(getMedian(shoal, 'requestsPerSecond')),
    digits(getMedian(bare, 'requestsPerSecond')),
    ratio.toFixed(2),
    digits(getMedian(shoal, 'p50Ms')),
    digits(getMedian(shoal, 'p95Ms')),
    digits(getMedian(bare, 'p50Ms')),
    digits(getMedian(bare, 'p95Ms')),
    digits(getMedian(shoal, 'cpuMicrosPerRequest')),
    digits(getMedian(bare, 'cpuMicrosPerRequest')),
  ]
}

async function profileEndpoint(
  name: string,
  endpoint: Endpoint,
  data: RegistryInput,
  options: BenchOptions,
  report: Report,
) {
  using folder = temporaryFolder()
  note(`profile: ${name}`)
  const profile = join(folder.path, 'api.cpuprofile')
  const registry = await startRegistry({ ...data, profile })
  await load(registry.answer.url, endpoint, options)
  await registry.stop()
  reportProfile(report, name, profile)
}
