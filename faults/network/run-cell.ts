/** Runs one command under one harm, and compares its end with the declared end. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../../bench/harness/random.ts'
import { makeContent } from '../harness/contents.ts'
import { nextNumber } from '../harness/world.ts'
import { runCommand } from './command.ts'
import { emptyPeer } from './empty-peer.ts'
import { classify, type End, inWords, isProblem, type Outcome } from './ends.ts'
import { filename, type Lane, lonelyModel, modelName } from './lane.ts'
import type { Cell } from './network-fault.ts'
import { columns } from './places.ts'

export type CellOptions = {
  lane: Lane
  /** A folder that only this cell uses; it is removed when the cell ends. */
  folder: string
  seed: number
  timeoutFactor: number
  /** For self-tests: a program to run instead of the CLI. */
  program?: string
  /** How long a command may run before it counts as hanging, multiplied by timeoutFactor. The default is 45 s. */
  hangTimeoutMs?: number
}

export type CellResult = {
  cell: Cell
  end: End | { problem: string }
  seconds: number
  /** Why the cell failed; undefined if the command ended as declared. */
  failure: string | undefined
  /** The command's output, which is shown after a failure. */
  output: string
}

/** The command's timeouts in seconds; they are multiplied by timeoutFactor. */
const timeoutSeconds = { connect: 2, headers: 2, stall: 2, giveup: 5 }
/**
 * The `giveup` timeout for commands that must succeed: on a busy machine, loading webtorrent and reaching a peer take
 * seconds.
 */
const successGiveUpSeconds = 20
/**
 * Enough time for the command to start, a transfer at a limited rate, the give-up timeout, and a request that starts
 * just before the give-up timeout expires.
 */
const defaultHangTimeoutMs = 45_000

function timeoutSetting({ end }: Cell, timeoutFactor: number): string {
  const giveup = end === 'correct bytes' ? successGiveUpSeconds : timeoutSeconds.giveup
  return Object.entries({ ...timeoutSeconds, giveup })
    .map(([name, seconds]) => `${name}=${Math.ceil(seconds * timeoutFactor)}s`)
    .join(',')
}

/** The failure of a cell whose command ended before the fault struck. */
export const noHarm = 'the fault affected no request'

export async function runCell(cell: Cell, options: CellOptions): Promise<CellResult> {
  const { lane, folder } = options
  mkdirSync(folder, { recursive: true })
  using stack = new DisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { words, fileUnderName } = await prepare(cell, options, stack)
  const place = cell.place ?? columns[cell.column].places[0]
  const reported = cell.fault.command?.(lane, place) ?? {}
  const address = reported.address ?? lane.address
  const harm = cell.fault.harm?.(place, lane)
  if (harm) {
    lane.proxy.arm({
      places: cell.place === undefined ? columns[cell.column].places : [cell.place],
      times: cell.form === 'stays' ? Number.POSITIVE_INFINITY : (cell.fault.times ?? 2),
      after: firstPasses(cell) ? 1 : 0,
      harm,
      // A pull joins the swarm only if the registry is slow.
      ...(cell.place === 'web seed' && { slowPlaces: ['chunk'] }),
    })
  }
  const ended = await runCommand({
    words: [...words, '--json', '--registry', address],
    home: folder,
    env: {
      ...lane.env,
      SHOAL_NETWORK_TIMEOUTS: timeoutSetting(cell, options.timeoutFactor),
      ...reported.env,
    },
    timeoutMs: (options.hangTimeoutMs ?? defaultHangTimeoutMs) * options.timeoutFactor,
    program: options.program,
  })
  const hasHarmed = harm === undefined || lane.proxy.hasHarmed()
  await lane.proxy.disarm()
  const outcome: Outcome = {
    ...ended,
    file: await fileUnderName(),
  }
  const end = hasHarmed ? classify(outcome) : { problem: noHarm }
  const credentials = lane.elsewhere.takeCredentials()
  return {
    cell,
    end,
    seconds: ended.seconds,
    failure: findFailure(cell, end, credentials),
    output: `${ended.stdout}\n${ended.stderr}`.trim(),
  }
}

/**
 * Whether the first request must pass unharmed. If it were harmed, the command would give up early, as it does if the
 * registry has never responded.
 */
const firstPasses = ({ column, form }: Cell) => column === 'api' && form === 'goes away'

function findFailure(cell: Cell, end: CellResult['end'], credentials: string[]) {
  if (credentials.length > 0) return `credentials sent to another origin: ${credentials.join(', ')}`
  if (isProblem(end)) return end.problem
  const seen = inWords(end)
  return inWords(cell.end) === seen ? undefined : seen
}

type Prepared = { words: string[]; fileUnderName(): Outcome['file'] | Promise<Outcome['file']> }

/** Returns the command that sends requests to the harmed place, and a function that inspects the resulting file. */
async function prepare(cell: Cell, options: CellOptions, stack: DisposableStack) {
  const { column, place } = cell
  if (column === 'push') return preparePush(options)
  const { lane, folder } = options
  if (place === 'web seed') return preparePieces(options, stack)
  if (getSourceFlag(cell) === '--only-peers') await lane.ensureSeeder()
  const path = join(folder, 'data', 'models', modelName, filename)
  return {
    words: ['pull', modelName, getSourceFlag(cell)],
    fileUnderName: () => judge(path, lane.sha256),
  } satisfies Prepared
}

/** Prepares a pull that requests pieces: a pull joins the swarm only if there is a peer. */
async function preparePieces({ lane, folder, seed }: CellOptions, stack: DisposableStack) {
  const { bytes, manifest } = makeContent(randomFrom(seed + 1), 'larger')
  await lane.ensureLonely(bytes)
  stack.use(await emptyPeer(lane.client, lonelyModel))
  const path = join(folder, 'data', 'models', lonelyModel, `${lonelyModel}.gguf`)
  return {
    words: ['pull', lonelyModel],
    fileUnderName: () => judge(path, manifest.sha256_hash),
  } satisfies Prepared
}

/**
 * Returns a flag that limits a pull to one source. A pull that may request bytes from the registry would succeed even
 * if requests for the torrent or to the tracker fail.
 */
const getSourceFlag = ({ column }: Cell) =>
  column === 'torrent' || column === 'tracker' ? '--only-peers' : '--no-peers'

function judge(path: string, sha256: string): Outcome['file'] {
  if (!existsSync(path)) return 'none'
  return hashFile(path) === sha256 ? 'correct bytes' : 'wrong bytes'
}

export const hashFile = (path: string) =>
  createHash('sha256').update(readFileSync(path)).digest('hex')

/** Prepares a push of bytes that the registry does not have, to a new model. */
function preparePush({ lane, folder, seed }: CellOptions): Prepared {
  const number = nextNumber()
  const name = `pushed-${number}`
  const { bytes, manifest } = makeContent(randomFrom(seed * 1000 + number), 'large')
  const path = join(folder, 'pushed.gguf')
  writeFileSync(path, bytes)
  return {
    words: ['push', path, '--name', name],
    async fileUnderName() {
      const page = await lane.client.listModels({ q: name })
      if (!page.models.some((model) => model.name === name)) return 'none'
      const [file] = await lane.client.listFiles(name, { status: 'ready' })
      if (!file) return 'none'
      return file.sha256_hash === manifest.sha256_hash ? 'correct bytes' : 'wrong bytes'
    },
  }
}
