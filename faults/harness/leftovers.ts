/** Checks that no unused files or file descriptors are left when the registry is idle. */
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Failures } from './failures.ts'
import { addedTo, type OpenFiles } from './open-files.ts'
import type { RegistryProcess } from './registry-process.ts'
import { TimeoutError, until, within } from './waiting.ts'

/** Runs one statement and returns the first column of each row. */
export type Query = (statement: string) => Promise<string[]>

/** Runs a garbage collection, and reports files in the store that no row refers to. */
export async function checkStoreLeftovers(
  registry: RegistryProcess,
  query: Query,
  { failures, timeoutFactor }: { failures: Failures; timeoutFactor: number },
) {
  const collection = registry.startAdmin('gc')
  const [code] = await within(
    'the garbage collection',
    30_000 * timeoutFactor,
    once(collection, 'exit'),
  )
  if (code !== 0)
    failures.wrong('shoal admin gc exits with 0', `it exited with ${code}: see the log`)

  const store = join(registry.dataDirectory, 'store')
  const unfinished = await query('select object_key from file where object_key is not null')
  const open = new Set(unfinished.flatMap((key) => [key, `${key}.chunks`]))
  const uploads = readdirSync(join(store, 'uploads')).filter((name) => !open.has(name))
  if (uploads.length > 0) {
    const seen = `${uploads.length} left, such as ${uploads[0]}`
    failures.wrong('no unused file is left in store/uploads after a garbage collection', seen)
  }
  const known = new Set([...unfinished, ...(await query('select object_key from blob'))])
  for (const key of await keysInTrash(query)) known.add(key)
  const objects = join(store, 'objects')
  const keys = readdirSync(objects).flatMap((folder) => readdirSync(join(objects, folder)))
  const unknown = keys.filter((key) => !known.has(key))
  if (unknown.length > 0) {
    const seen = `${unknown.length} unknown, such as ${unknown[0]}`
    failures.wrong('store/objects has only objects of files, blobs and the trash', seen)
  }
}

/** Returns the keys of objects in the trash, which stay on the disk for some days. Older versions have no trash. */
async function keysInTrash(query: Query): Promise<string[]> {
  try {
    return await query('select object_key from trash')
  } catch (error) {
    if (/no such table|does not exist/.test(String(error))) return []
    throw error
  }
}

export async function checkSqlite(path: string, failures: Failures) {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  const rows = database.prepare('pragma integrity_check').all()
  database.close()
  const found = rows.map((row) => String(row.integrity_check)).join(', ')
  if (found !== 'ok')
    failures.wrong("SQLite's integrity check finds no errors", found.slice(0, 200))
}

/** Returns a query function that opens a separate connection for each statement. */
export function sqliteQuery(path: string): Query {
  return async (statement) => {
    const database = new DatabaseSync(path, { timeout: 5_000 })
    try {
      return database
        .prepare(statement)
        .all()
        .map((row) => String(Object.values(row)[0]))
    } finally {
      database.close()
    }
  }
}

/**
 * Checks that the process has no more open files than when it was idle before the fault. Some files are closed with a
 * short delay.
 */
export async function checkOpenFiles(
  registry: RegistryProcess,
  before: OpenFiles,
  options: { failures: Failures; timeoutFactor: number; morePoolSockets: number },
) {
  let added: string | undefined
  const isClosed = () => {
    added = addedTo(before, registry.openFiles(), options.morePoolSockets)
    return added === undefined
  }
  try {
    await until('all files are closed', 5_000 * options.timeoutFactor, isClosed)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    options.failures.wrong('no additional file descriptor is open', `left open: ${added}`)
  }
}

export function checkTemporaryFolder(path: string, failures: Failures) {
  const left = readdirSync(path, { recursive: true })
  if (left.length > 0) {
    failures.wrong('no temporary file is left', `${left.length} left, such as ${left[0]}`)
  }
}
