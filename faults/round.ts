import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../bench/harness/random.ts'
import type { Engine, Fault, Harm } from './fault.ts'
import { cleanupStack } from './harness/cleanup.ts'
import { clientOf } from './harness/client.ts'
import type { DatabaseServer } from './harness/database-server.ts'
import { collectFailures, type Failures } from './harness/failures.ts'
import { openJournal } from './harness/journal.ts'
import { type LoadOptions, startLoad } from './harness/load.ts'
import { type RegistryProcess, registryProcess } from './harness/registry-process.ts'
import type { World } from './harness/world.ts'

/** Where a round takes place. */
export type Place = {
  seed: number
  engine: Engine
  /** Everything of the round that is thrown away at its end. */
  folder: string
  logFolder: string
  dataDirectory: string
  /** Undefined on SQLite. */
  databaseUrl: string | undefined
  /** Undefined where PostgreSQL is not installed. */
  databases: DatabaseServer | undefined
  /** Multiplies every time allowed. */
  patience: number
  /** Undone in reverse order at the end of the round. */
  cleanup: DisposableStack
}

/** One registry with what is known of it, for one fault. */
export type Round = Place & {
  registry: RegistryProcess
  world: World
  failures: Failures
  strike: Harm['strike']
  startLoad(options?: LoadOptions): ReturnType<typeof startLoad>
}

export type RoundOptions = Pick<Place, 'seed' | 'patience' | 'databases' | 'logFolder'>

export async function openRound(fault: Fault, options: RoundOptions): Promise<Round> {
  const { seed, databases, logFolder } = options
  const cleanup = cleanupStack()
  const folder = mkdtempSync(join(tmpdir(), 'shoal-faults-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(logFolder, { recursive: true })
  const engines = fault.engines.filter((one) => one === 'sqlite' || databases)
  const engine = engines[seed % engines.length] ?? 'sqlite'
  const databaseUrl = engine === 'postgres' ? await databases?.makeDatabase() : undefined
  const dataDirectory = join(folder, 'data')
  const place: Place = { ...options, engine, folder, dataDirectory, databaseUrl, cleanup }

  const { strike, ...harm } = await fault.arrange(place)
  const failures = collectFailures()
  const { registry, world } = openWorld({ ...place, ...harm }, failures)
  return {
    ...place,
    registry,
    world,
    failures,
    strike,
    startLoad(load = {}) {
      const started = startLoad(world, load)
      cleanup.defer(started.end)
      return started
    },
  }
}

/** A registry that is not started yet, and a world that knows nothing. */
export function openWorld(
  place: Place & Omit<Harm, 'strike' | 'databaseUrl'>,
  failures: Failures,
): Pick<Round, 'registry' | 'world'> {
  const { cleanup, logFolder, folder, patience, seed, env = {}, hasPipedLog = false } = place
  const { answerTimeoutMs = 10_000, losesUnsyncedWrites = false } = place
  const temporaryFolder = temporaryFolderOf(folder)
  mkdirSync(temporaryFolder, { recursive: true })
  const journal = cleanup.use(openJournal(join(logFolder, 'acknowledged.jsonl')))
  const registry = cleanup.use(
    registryProcess({ ...place, temporaryFolder, env, hasPipedLog, failures }),
  )
  const timeoutMs = answerTimeoutMs * patience
  const client = clientOf({ origin: registry.origin, timeoutMs, failures })
  cleanup.defer(client.hangUp)
  const world: World = {
    client,
    ledger: { accounts: [], keys: [], models: [] },
    journal,
    failures,
    contents: new Map(),
    random: randomFrom(seed),
    patience,
    isExact: place.engine === 'sqlite',
    keepsChunks: !losesUnsyncedWrites,
  }
  return { registry, world }
}

/** The registry's own, to see what it leaves there. */
export function temporaryFolderOf(folder: string): string {
  return join(folder, 'tmp')
}
