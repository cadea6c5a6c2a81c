import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Round } from './fault.ts'
import { openWorld } from './round.ts'

const run = promisify(execFile)

/**
 * Copies the data while the registry is running: first the database, and then `store/`. Returns a registry that can be
 * started with the copy.
 */
export async function openCopy(round: Round): Promise<Pick<Round, 'registry' | 'world'>> {
  const folder = join(round.folder, 'copy')
  const dataDirectory = join(folder, 'data')
  const logFolder = join(round.logFolder, 'copy')
  for (const path of [dataDirectory, logFolder]) mkdirSync(path, { recursive: true })

  const { databases, databaseUrl } = round
  const copiedUrl =
    databases && databaseUrl !== undefined
      ? await databases.copyDatabase(databaseUrl, folder)
      : undefined
  if (copiedUrl === undefined) await backUpSqlite(round.dataDirectory, dataDirectory)
  await copyFolder(join(round.dataDirectory, 'store'), join(dataDirectory, 'store'))

  const place = { ...round, folder, dataDirectory, logFolder, databaseUrl: copiedUrl }
  return openWorld(place, round.failures)
}

/** Has the same effect as `sqlite3 registry.sqlite "VACUUM INTO 'copy.sqlite'"`, run in another process like it. */
async function backUpSqlite(from: string, to: string) {
  const [database, copy] = [from, to].map((folder) => join(folder, 'registry.sqlite'))
  const script =
    "new (require('node:sqlite').DatabaseSync)(process.argv[1]).prepare('vacuum into ?').run(process.argv[2])"
  await run(process.execPath, ['-e', script, database ?? '', copy ?? ''])
}

/** Copies a folder with `cp`, which reports files that disappear during the copy, and copies the rest. */
async function copyFolder(from: string, to: string) {
  try {
    await run('cp', ['-a', from, to], { env: { ...process.env, LC_ALL: 'C' } })
  } catch (error) {
    const lines = String((error as { stderr?: unknown }).stderr)
      .trim()
      .split('\n')
    if (!lines.every((line) => line.endsWith('No such file or directory'))) throw error
  }
}
