import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../bench/harness/random.ts'
import type { Fault, Harm, Place, Round } from './fault.ts'
import { cleanupStack } from './harness/cleanup.ts'
import { createClient } from './harness/client.ts'
import { collectFailures, type Failures } from './harness/failures.ts'
import { openJournal } from './harness/journal.ts'
import { startLoad } from './harness/load.ts'
import { registryProcess } from './harness/registry-process.ts'
import type { World } from './harness/world.ts'

export type RoundOptions = Pick<Place, 'seed' | 'timeoutFactor' | 'databases' | 'logFolder'>

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

/** Creates a registry, which is not started yet, and an empty world. */
export function openWorld(
  place: Place & Omit<Harm, 'strike' | 'databaseUrl'>,
  failures: Failures,
): Pick<Round, 'registry' | 'world'> {
  const { cleanup, logFolder, folder, timeoutFactor, seed, env = {}, hasPipedLog = false } = place
  const { answerTimeoutMs = 10_000, losesUnsyncedWrites = false } = place
  const temporaryFolder = getTemporaryFolder(folder)
  mkdirSync(temporaryFolder, { recursive: true })
  const journal = cleanup.use(openJournal(join(logFolder, 'acknowledged.jsonl')))
  const registry = cleanup.use(
    registryProcess({ ...place, temporaryFolder, env, hasPipedLog, failures }),
  )
  const timeoutMs = answerTimeoutMs * timeoutFactor
  const client = createClient({ origin: registry.origin, timeoutMs, failures })
  cleanup.defer(client.hangUp)
  const world: World = {
    client,
    ledger: { accounts: [], keys: [], models: [] },
    journal,
    failures,
    contents: new Map(),
    random: randomFrom(seed),
    timeoutFactor,
    countDelayMs: 0,
    isExact: place.engine === 'sqlite',
    keepsChunks: !losesUnsyncedWrites,
  }
  return { registry, world }
}

/** Returns a separate temporary folder for the registry, so that files left there are detected. */
export function getTemporaryFolder(folder: string): string {
  return join(folder, 'tmp')
}
