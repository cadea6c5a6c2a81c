import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../testing/postgres.ts'
import { type BenchOptions, isWanted } from './bench.ts'
import type { RegistryInput } from './registry.ts'
import { note, type Report } from './report.ts'
import { runScript } from './script.ts'
import { needRoom, temporaryFolder } from './temporary-folder.ts'

export type SeedInput = {
  dataDirectory: string
  databaseUrl: string | undefined
  /** The number of made-up models for measurements; 'shown' for the plausible models of screenshots. */
  models: number | 'shown'
}

const bytesPerModel = 12_000

/** Returns a data directory with `models` made-up models. With `--data`, the directory is filled once and kept. */
export async function filledDirectory(
  options: BenchOptions,
): Promise<Disposable & { path: string }> {
  await needRoom(options.models * bytesPerModel)
  const kept = options.data
  if (kept === undefined) {
    const folder = temporaryFolder()
    await fill({ dataDirectory: folder.path, databaseUrl: undefined, models: options.models })
    return folder
  }
  const mark = `${options.models} models, tables ${hashTables()}`
  const markPath = join(kept, 'filled-with')
  if (!existsSync(markPath) || readFileSync(markPath, 'utf8') !== mark) {
    if (existsSync(kept) && readdirSync(kept).length > 0 && !existsSync(markPath)) {
      throw new Error(
        `${kept} is not empty and was not filled by a benchmark: choose another folder for --data`,
      )
    }
    rmSync(kept, { recursive: true, force: true })
    mkdirSync(kept, { recursive: true })
    await fill({ dataDirectory: kept, databaseUrl: undefined, models: options.models })
    writeFileSync(markPath, mark)
  }
  return { path: kept, [Symbol.dispose]: () => undefined }
}

/** Measures a filled registry on SQLite and, if it is installed, on PostgreSQL, unless `--only` excludes the engine. */
export async function onEachEngine(
  options: BenchOptions,
  report: Report,
  measure: (engine: 'SQLite' | 'PostgreSQL', place: RegistryInput) => Promise<void>,
) {
  if (isWanted(options, 'sqlite')) {
    using directory = await filledDirectory(options)
    await measure('SQLite', { dataDirectory: directory.path })
  }
  if (!isWanted(options, 'postgres')) return
  await using stack = new AsyncDisposableStack()
  const place = await filledPostgres(options, stack)
  if (place) await measure('PostgreSQL', place)
  else report.say('PostgreSQL is not installed: the measurements on it are skipped.')
}

/**
 * Fills a registry with made-up models on a PostgreSQL server that syncs its commits and runs until `stack` is disposed
 * of. Returns undefined if PostgreSQL is not installed.
 */
export async function filledPostgres(
  { models }: BenchOptions,
  stack: AsyncDisposableStack,
): Promise<RegistryInput | undefined> {
  const server = await startPostgres({ isDurable: true })
  if (!server) return undefined
  stack.defer(server.stop)
  const dataDirectory = join(stack.use(temporaryFolder()).path, 'data')
  mkdirSync(dataDirectory)
  await fill({ dataDirectory, databaseUrl: server.url, models })
  return { dataDirectory, databaseUrl: server.url }
}

export async function fill(input: SeedInput) {
  note(`filling a registry with ${input.models} models`)
  await runScript('seed', input)
}

/** Hashes the code that defines and fills the tables, so that a folder filled by an older version is not used. */
function hashTables(): string {
  const database = join(import.meta.dirname, '../../packages/registry/src/database')
  const hash = createHash('sha256')
  const files = readdirSync(database, { recursive: true, encoding: 'utf8' }).sort()
  for (const file of [...files, join(import.meta.dirname, 'catalogue.ts')]) {
    const path = file.startsWith('/') ? file : join(database, file)
    if (/\.(sql|ts)$/.test(path)) hash.update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 16)
}
