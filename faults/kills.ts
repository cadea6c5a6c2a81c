/** Faults in which the registry is killed (SIGKILL) during an operation. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../packages/registry/src/database/connect.ts'
import { undoMigrations } from '../packages/registry/src/testing/older-database.ts'
import type { Fault, Harm, Round } from './fault.ts'
import type { LoadOptions, Step } from './harness/load.ts'
import { until } from './harness/waiting.ts'
import { inTurn } from './in-turn.ts'

const engines = ['sqlite', 'postgres'] as const
const garbageFiles = 400

type KillInLoad = LoadOptions & {
  /** The registry is killed soon after a step of this kind. */
  after: Step
  /** The maximum number of these steps before the kill; the actual number is random, at least 1. */
  maxTimes: number
  /** The maximum random delay between the step and the kill. */
  maxDelayMs: number
}

function killIn(options: KillInLoad): Harm['strike'] {
  return async ({ registry, world, startLoad }) => {
    const load = startLoad(options)
    await load.untilDone(options.after, 1 + world.random.integer(options.maxTimes))
    await sleep(world.random.next() * options.maxDelayMs)
    await registry.kill()
    await load.stop()
  }
}

const duringUpload = killIn({
  weights: { push: 30 },
  largeShare: 0.5,
  after: 'chunk',
  maxTimes: 6,
  maxDelayMs: 40,
})
const duringProcessing = killIn({
  weights: { push: 60 },
  largeShare: 0.5,
  after: 'submit',
  maxTimes: 4,
  maxDelayMs: 60,
})
const duringLikes = killIn({
  weights: { like: 200, push: 0 },
  after: 'like',
  maxTimes: 100,
  maxDelayMs: 20,
})
const duringDownloads = killIn({
  weights: { download: 200, push: 0 },
  after: 'download',
  maxTimes: 200,
  maxDelayMs: 20,
})

export const kills: Fault[] = [
  {
    name: 'kill-requests',
    summary:
      'Kill the registry (SIGKILL) while it receives chunks, processes files, changes likes and serves download information.',
    needs: [],
    engines,
    arrange: () => ({
      strike: inTurn(duringUpload, duringProcessing, duringLikes, duringDownloads),
    }),
  },
  {
    name: 'kill-maintenance',
    summary:
      'Kill the registry and `shoal admin gc` while both are deleting files, and the registry while it migrates the database of an older version.',
    needs: [],
    engines,
    arrange: () => ({ strike: inTurn(killInCollection, killInMigration) }),
  },
]

/** Creates files that no row refers to, such as those that crashes leave behind. Returns the folder of uploads. */
function makeGarbage({ dataDirectory }: Round): string {
  const uploads = join(dataDirectory, 'store', 'uploads')
  for (let number = 0; number < garbageFiles; number += 1) {
    const key = randomUUID()
    writeFileSync(join(uploads, key), 'left by a crash')
    writeFileSync(join(uploads, `${key}.chunks`), '\0')
    if (number >= garbageFiles / 4) continue
    const objects = join(dataDirectory, 'store', 'objects', key.slice(-2))
    mkdirSync(objects, { recursive: true })
    writeFileSync(join(objects, randomUUID().slice(0, -2) + key.slice(-2)), 'left by a crash')
  }
  return uploads
}

/**
 * Returns the size of SQLite's write-ahead log, which grows with each statement of a migration. PostgreSQL offers no
 * such sign of progress, so the time of the kill is random on PostgreSQL.
 */
function readLogSize(dataDirectory: string): number {
  return statSync(join(dataDirectory, 'registry.sqlite-wal'), { throwIfNoEntry: false })?.size ?? 0
}

function rethrow(error: Error) {
  throw error
}

async function killInCollection(round: Round) {
  const { registry, world, startLoad, timeoutFactor } = round
  const filling = startLoad({ weights: { push: 20 } })
  await filling.untilDone('ready', 8)
  await filling.stop()
  const load = startLoad({ weights: { push: 0, deleteFile: 10, deleteModel: 3 } })
  await load.untilDone('like', 10)
  const uploads = makeGarbage(round)
  const goal = readdirSync(uploads).length - world.random.integer(garbageFiles)
  const collection = registry.startAdmin('gc')
  const ended = once(collection, 'exit')
  await until('the garbage collection deletes files', 30_000 * timeoutFactor, () => {
    return collection.exitCode !== null || readdirSync(uploads).length < goal
  })
  collection.kill('SIGKILL')
  await registry.kill()
  await ended
  await load.stop()
}

async function killInMigration(round: Round) {
  const { registry, world, startLoad } = round
  const load = startLoad({ weights: { push: 0 } }) // waiting for an abandoned lease to expire would take too long
  await load.untilDone('like', 20)
  await load.stop()
  await registry.stop()
  const { databaseUrl, dataDirectory } = round
  const connection = await connect({ databaseUrl, dataDirectory, onConnectionLost: rethrow })
  await undoMigrations(connection, '0002_torrent_lookup')
  await connection.close()

  for (let kills = 0; kills < 5; kills += 1) {
    const sizeBefore = readLogSize(dataDirectory)
    const giveUpAt = performance.now() + registry.startMs() * (0.4 + 0.6 * world.random.next())
    registry.launch() // the registry loads its modules before it migrates the database
    while (performance.now() < giveUpAt && readLogSize(dataDirectory) === sizeBefore) await sleep(1)
    await sleep(world.random.next() * 20)
    await registry.kill()
  }
}
