import type { Load, LoadInput } from './children/load.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { catalogue } from './harness/catalogue.ts'
import { filledDirectory } from './harness/filled-registry.ts'
import { digits, median } from './harness/numbers.ts'
import { readCpuSeconds } from './harness/process-usage.ts'
import { startRegistry } from './harness/registry.ts'
import { inTurns } from './harness/rounds.ts'
import { runScript, type Script, startScript } from './harness/script.ts'

type Side = Script<{ url: string }>
type Round = Load & { announcesPerCpuSecond: number }

/**
 * The maximum number of peers that the registry accepts from one address; in this benchmark, all peers have the same
 * address.
 */
export const peers = 2_000
const swarmSizes = { 'swarms of 50': 50, 'swarms of 1000': 1_000 }
const warmUpSeconds = 1.5

export const bench: Bench = {
  summary: "announces per CPU second of the registry's tracker, against bittorrent-tracker",

  async run(options, report) {
    using directory = await filledDirectory(options)
    report.title(
      `tracker: ${peers} peers that each request 50 others, ${options.connections} connections`,
    )
    const rows = []
    for (const [name, peersEach] of Object.entries(swarmSizes)) {
      if (!isWanted(options, name)) continue
      const paths = announces(options, peersEach)
      await using shoal = await startRegistry({ dataDirectory: directory.path })
      await using alone = await startScript<{ url: string }>('tracker-alone', {})
      const sides: Record<string, Side> = { shoal, 'bittorrent-tracker': alone }
      for (const side of Object.values(sides)) {
        await load(side, paths, { ...options, seconds: warmUpSeconds })
      }
      const rounds = await inTurns(options.rounds, {
        shoal: () => measuredLoad(shoal, paths, options),
        'bittorrent-tracker': () => measuredLoad(alone, paths, options),
      })
      rows.push(...formatRows(name, rounds))
    }
    report.table(head, rows)
  },
}

/** Returns the paths of announces, one for each peer. Every fourth peer is a seeder. */
export function announces({ models }: Pick<BenchOptions, 'models'>, peersEach: number): string[] {
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

function load({ answer }: Side, paths: string[], { connections, seconds }: BenchOptions) {
  const input: LoadInput = { url: answer.url, paths, status: 200, connections, seconds }
  return runScript<Load>('load', input)
}

async function measuredLoad(side: Side, paths: string[], options: BenchOptions): Promise<Round> {
  const before = readCpuSeconds(side.pid) ?? Number.NaN
  const result = await load(side, paths, options)
  const spent = (readCpuSeconds(side.pid) ?? Number.NaN) - before
  return { ...result, announcesPerCpuSecond: result.requests / spent }
}

const head = [
  'swarms',
  'side',
  'announces per CPU second',
  '× bittorrent-tracker',
  'announces/s',
  'p50 ms',
  'p95 ms',
]

function formatRows(name: string, rounds: Record<string, Round[]>) {
  const getMedian = (side: string, field: keyof Round) =>
    median((rounds[side] ?? []).map((one) => one[field]))
  const baseline = getMedian('bittorrent-tracker', 'announcesPerCpuSecond')
  return Object.keys(rounds).map((side) => [
    name,
    side,
    digits(getMedian(side, 'announcesPerCpuSecond')),
    (getMedian(side, 'announcesPerCpuSecond') / baseline).toFixed(2),
    digits(getMedian(side, 'requestsPerSecond')),
    digits(getMedian(side, 'p50Ms')),
    digits(getMedian(side, 'p95Ms')),
  ])
}
