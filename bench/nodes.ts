import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeGgufFile } from '@shoal/model-file/testing'
import { startPostgres } from '../testing/postgres.ts'
import { startRedis } from '../testing/redis.ts'
import { type S3Server, startS3 } from '../testing/s3/start-s3.ts'
import type { Load, LoadInput } from './children/load.ts'
import type { SwarmAnnouncesInput } from './children/swarm-announces.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { catalogue } from './harness/catalogue.ts'
import { fill, filledDirectory } from './harness/filled-registry.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds } from './harness/process-usage.ts'
import { filename, modelName } from './harness/published-file.ts'
import { type BenchRegistry, startRegistry } from './harness/registry.ts'
import type { Report } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { runScript } from './harness/script.ts'
import { runShoal } from './harness/shoal.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'

const nodeCounts = [1, 2, 3]
/** The maximum number of peers that the registry accepts from one address; here, all peers have the same address. */
const peers = 2_000

export const bench: Bench = {
  summary:
    'requests to several nodes on PostgreSQL, announces with swarms in Redis, and a push to S3',

  async run(options, report) {
    if (isWanted(options, 'requests')) await measureRequests(options, report)
    if (isWanted(options, 'announces')) await measureAnnounces(options, report)
    if (isWanted(options, 'push')) await measurePush(options, report)
  },
}

/** Measures requests per CPU second of all nodes together, compared with one node on SQLite. */
async function measureRequests(options: BenchOptions, report: Report) {
  await using stack = new AsyncDisposableStack()
  const postgres = installed(await startPostgres(), 'PostgreSQL')
  stack.defer(postgres.stop)
  const folder = stack.use(temporaryFolder())
  const filled = stack.use(await filledDirectory(options))
  const { url: databaseUrl } = postgres
  await fill({ dataDirectory: join(folder.path, 'seed'), databaseUrl, models: options.models })
  const nodes: BenchRegistry[] = []
  for (const number of nodeCounts) {
    const dataDirectory = join(folder.path, number === 1 ? 'seed' : String(number))
    if (number > 1) {
      mkdirSync(dataDirectory)
      symlinkSync(join(folder.path, 'seed', 'store'), join(dataDirectory, 'store')) // the same store, because no bytes are requested
    }
    const settings = { SHOAL_PEER_PORT: 'off' }
    nodes.push(stack.use(await startRegistry({ dataDirectory, databaseUrl, settings })))
  }
  const alone = stack.use(await startRegistry({ dataDirectory: filled.path }))
  const [model] = catalogue(options.models)
  const paths = { list: ['/v1/models'], model: [`/v1/models/${model?.name}`] }
  report.title(`nodes: requests with ${options.models} models on one PostgreSQL server`)
  const rows = []
  for (const [name, requested] of Object.entries(paths)) {
    const sides = Object.fromEntries(
      nodeCounts.map((count) => [
        `${count} on PostgreSQL`,
        () => perCpuSecond(nodes.slice(0, count), requested, options),
      ]),
    )
    // All nodes run, but only one at a time is under load, so that they do not compete for this machine's cores.
    const inTurn = () => perCpuSecond(nodes, requested, options, { isInTurn: true })
    const rounds = await inTurns(options.rounds, {
      '1 on SQLite': () => perCpuSecond([alone], requested, options),
      ...sides,
      [`${nodes.length} on PostgreSQL, in turn`]: inTurn,
    })
    for (const [side, measured] of Object.entries(rounds)) {
      const rate = median(measured)
      rows.push([name, side, digits(rate), (rate / median(rounds['1 on SQLite'] ?? [])).toFixed(2)])
    }
  }
  report.table(['request', 'nodes', 'requests per CPU second', '× SQLite'], rows)
}

/**
 * Measures announces per CPU second of a node, with its swarms in memory and in Redis. Also measures the calls to Redis
 * without a node.
 */
async function measureAnnounces(options: BenchOptions, report: Report) {
  await using stack = new AsyncDisposableStack()
  const redis = installed(await startRedis(), 'Redis')
  stack.defer(redis.stop)
  using filled = await filledDirectory(options)
  report.title('nodes: announces of 2,000 peers in swarms of 50')
  const peersPerSwarm = 50
  const paths = announces(options, peersPerSwarm)
  const { connections: callers, seconds } = options
  const callsOnly: SwarmAnnouncesInput = {
    redisUrl: redis.url,
    peers,
    peersPerSwarm,
    callers,
    seconds,
  }
  const measure = async (settings: Record<string, string>) => {
    await using node = await startRegistry({ dataDirectory: filled.path, settings })
    await perCpuSecond([node], paths, { ...options, seconds: 1.5 })
    // `await`, because the node is stopped when this function returns.
    return await perCpuSecond([node], paths, options)
  }
  const rounds = await inTurns(options.rounds, {
    memory: () => measure({}),
    Redis: () => measure({ SHOAL_REDIS_URL: redis.url }),
    'Redis, without HTTP': () => runScript<number>('swarm-announces', callsOnly),
  })
  const rows = Object.entries(rounds).map(([side, measured]) => [side, digits(median(measured))])
  report.table(['swarms stored in', 'announces per CPU second'], rows)
}

/**
 * Measures how much CPU time the client and the registry use for a push to an S3 store, and counts the requests to the
 * store.
 */
async function measurePush(options: BenchOptions, report: Report) {
  await needRoom(options.sizeBytes * 2.5)
  const gibibytes = options.sizeBytes / 2 ** 30
  using folder = temporaryFolder()
  const source = join(folder.path, filename)
  await writeGgufFile(source, options.sizeBytes)
  const measured = []
  for (let round = 0; round < options.rounds; round += 1) {
    await using stack = new AsyncDisposableStack()
    const s3 = installed(await startS3({ memoryBytes: options.sizeBytes * 2 }), 'radosgw')
    stack.defer(s3.stop)
    const settings = {
      SHOAL_S3_ENDPOINT: s3.address.endpoint,
      SHOAL_S3_BUCKET: s3.address.bucket,
      SHOAL_S3_ACCESS_KEY_ID: s3.address.accessKeyId,
      SHOAL_S3_SECRET_ACCESS_KEY: s3.address.secretAccessKey,
    }
    const home = join(folder.path, String(round))
    const node = stack.use(await startRegistry({ dataDirectory: join(home, 'data'), settings }))
    const before = readCpuSeconds(node.pid) ?? Number.NaN
    const requestsBefore = countStoreRequests(s3)
    const words = ['push', source, '--name', modelName]
    const pushing = runShoal(words, { home, registry: node.answer })
    await untilCompleted(s3, pushing)
    const completed = (readCpuSeconds(node.pid) ?? Number.NaN) - before
    const pushed = await pushing
    const spent = (readCpuSeconds(node.pid) ?? Number.NaN) - before
    measured.push({
      wall: pushed.wallSeconds,
      client: pushed.cpuSeconds ?? Number.NaN,
      completed,
      spent,
      requests: countStoreRequests(s3) - requestsBefore,
    })
  }
  report.title(
    `nodes: push of ${gibibytes.toFixed(1)} GiB to an S3 store (radosgw), until the file is ready`,
  )
  report.table(
    [
      'wall s',
      'client, CPU s per GiB',
      'registry until the upload is complete, CPU s per GiB',
      'registry in total, with the read-back, CPU s per GiB',
      'requests to the store per GiB',
    ],
    [
      [
        digits(median(measured.map(({ wall }) => wall))),
        digits(median(measured.map(({ client }) => client)) / gibibytes),
        digits(median(measured.map(({ completed }) => completed)) / gibibytes),
        digits(median(measured.map(({ spent }) => spent)) / gibibytes),
        digits(median(measured.map(({ requests }) => requests)) / gibibytes),
      ],
    ],
  )
}

/** Resolves when the S3 gateway has completed the multipart upload, or when the push has ended. */
async function untilCompleted(s3: S3Server, pushing: Promise<unknown>) {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  pushing.then(end, end)
  const countCompletions = () => readGatewayLog(s3).match(/"POST [^"]*uploadId=/g)?.length ?? 0
  const before = countCompletions() // the registry's probe also completes an upload
  while (!hasEnded && countCompletions() === before) await sleep(20)
}

const readGatewayLog = ({ directory }: S3Server) =>
  readFileSync(join(directory, 'log', 'client.rgw.log'), 'utf8')

/** Returns the number of requests in the S3 gateway's log. */
function countStoreRequests(s3: S3Server): number {
  return readGatewayLog(s3).match(/ beast: /g)?.length ?? 0
}

/**
 * Divides the connections among the nodes, and puts load on all of them at the same time. With `isInTurn`, puts load on
 * one node after another instead, each time with all connections. Returns the number of requests per second of the
 * nodes' CPU time.
 */
async function perCpuSecond(
  nodes: BenchRegistry[],
  paths: string[],
  { connections, seconds }: Pick<BenchOptions, 'connections' | 'seconds'>,
  { isInTurn = false } = {},
): Promise<number> {
  const readCpu = () => nodes.reduce((sum, { pid }) => sum + (readCpuSeconds(pid) ?? 0), 0)
  const before = readCpu()
  const loads: Load[] = []
  const put = async ({ answer: { url } }: BenchRegistry, share: number, duration: number) => {
    const input: LoadInput = { url, paths, status: 200, connections: share, seconds: duration }
    loads.push(await runScript<Load>('load', input))
  }
  if (isInTurn) for (const node of nodes) await put(node, connections, seconds / nodes.length)
  else {
    const share = Math.ceil(connections / nodes.length)
    await Promise.all(nodes.map((node) => put(node, share, seconds)))
  }
  return loads.reduce((sum, { requests }) => sum + requests, 0) / (readCpu() - before)
}

function installed<T>(server: T | undefined, name: string): T {
  if (server === undefined) throw new Error(`this benchmark needs ${name}, which is not installed`)
  return server
}

/** Returns the paths of announces, one for each peer. Every fourth peer is a seeder. */
function announces({ models }: BenchOptions, peersEach: number): string[] {
  const hashes: string[] = []
  for (const { isPublic, files } of catalogue(models)) {
    const [file] = files
    if (isPublic && file) hashes.push(file.sha256_hash.slice(0, 40))
    if (hashes.length * peersEach >= peers) break
  }
  return Array.from({ length: peers }, (_, peer) => {
    const infoHash = hashes[peer % hashes.length] ?? ''
    const peerId = Buffer.from(`-SH0100-${String(peer).padStart(12, '0')}`).toString('hex')
    const counters = `uploaded=0&downloaded=0&left=${peer % 4 === 0 ? 0 : 1_000}`
    return `/announce?info_hash=${escaped(infoHash)}&peer_id=${escaped(peerId)}&port=${2_000 + peer}&${counters}&compact=1&numwant=50`
  })
}

const escaped = (hex: string) => hex.replace(/../g, '%$&')
