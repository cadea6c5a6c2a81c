import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { connect } from '../packages/registry/src/database/connect.ts'
import { undoMigrations } from '../packages/registry/src/testing/older-database.ts'
import { startPostgres } from '../testing/postgres.ts'
import type { Migrated } from './children/migrate.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { fill } from './harness/filled-registry.ts'
import { digits, median, megabytes } from './harness/numbers.ts'
import { note, type Report } from './harness/report.ts'
import { startScript } from './harness/script.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'

type Place = { dataDirectory: string; databaseUrl: string | undefined }

const firstOfThisVersion = '0007_search_index'
const kills = 8
const pollIntervalMs = 2

export const bench: Bench = {
  summary: 'migration of a version 0.1 database: time, log size, and kills during the migration',

  async run(options, report) {
    report.title(`migration: ${options.models} models`)
    if (isWanted(options, 'sqlite')) {
      using folder = temporaryFolder()
      await measure(
        'SQLite',
        { dataDirectory: folder.path, databaseUrl: undefined },
        options,
        report,
      )
    }
    if (!isWanted(options, 'postgres')) return
    const postgres = await startPostgres({ isDurable: true })
    if (!postgres)
      return report.say('PostgreSQL is not installed: the measurements on it are skipped.')
    try {
      using folder = temporaryFolder()
      const place = { dataDirectory: folder.path, databaseUrl: postgres.url }
      await measure('PostgreSQL', place, options, report)
    } finally {
      await postgres.stop()
    }
  },
}

async function measure(engine: string, place: Place, options: BenchOptions, report: Report) {
  await fill({ ...place, models: options.models })
  const before = await summarize(place)
  const rounds = []
  for (let round = 1; round <= options.rounds; round += 1) {
    note(`${engine}: round ${round} of ${options.rounds}`)
    await makeOlder(place)
    rounds.push(await migrate(place))
  }
  const usualMs = median(rounds.map(({ ms }) => ms))
  let interrupted = 0
  for (let kill = 1; kill <= kills; kill += 1) {
    note(`${engine}: kill ${kill} of ${kills}`)
    await makeOlder(place)
    if (await killMigration(place, (usualMs * kill) / kills)) interrupted += 1
    await migrate(place)
    const after = await summarize(place)
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      throw new Error(
        `a kill changed the data: before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`,
      )
    }
  }
  report.table(
    [
      'database',
      'duration, ms',
      'write-ahead log, MB',
      'kills',
      'kills before the migration ended',
      'databases with wrong contents',
    ],
    [
      [
        engine,
        digits(usualMs),
        megabytes(Math.max(...rounds.map(({ logBytes }) => logBytes))),
        kills,
        interrupted,
        0,
      ],
    ],
  )
}

async function makeOlder(place: Place) {
  const connection = await connect({ ...place, onConnectionLost: () => undefined })
  await undoMigrations(connection, firstOfThisVersion)
  await connection.close()
}

async function migrate(place: Place): Promise<Migrated & { logBytes: number }> {
  let logBytes = 0
  const logPath = join(place.dataDirectory, 'registry.sqlite-wal')
  const timer = setInterval(() => {
    logBytes = Math.max(logBytes, statSync(logPath, { throwIfNoEntry: false })?.size ?? 0)
  }, pollIntervalMs)
  try {
    await using script = await startScript('migrate', place)
    const migrated = await script.ask<Migrated>('migrate')
    return { ...migrated, logBytes }
  } finally {
    clearInterval(timer)
  }
}

/** Kills a migration `afterMs` milliseconds after it has begun. Returns whether it was still running. */
async function killMigration(place: Place, afterMs: number): Promise<boolean> {
  await using script = await startScript('migrate', place)
  const isCutShort = script.ask<Migrated>('migrate').then(
    () => false,
    () => true,
  )
  await Promise.race([sleep(afterMs), isCutShort])
  process.kill(script.pid, 'SIGKILL')
  return isCutShort
}

/** Counts rows, and adds up downloads and likes, so that losses during a migration are detected. */
async function summarize(place: Place) {
  const connection = await connect({ ...place, onConnectionLost: () => undefined })
  const { rows } = await sql`
    select (select count(*) from model) as models, (select sum(downloads) from model) as downloads,
      (select sum(downloads) from model_downloads) as counted, (select sum(likes) from model) as likes,
      (select count(*) from file) as files, (select count(*) from blob_chunk) as chunks,
      (select count(*) from kysely_migration) as migrations`.execute(connection.db)
  await connection.close()
  return rows[0]
}
