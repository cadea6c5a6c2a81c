/** Small JSON files. `updateJsonFile` loses no concurrent updates, and readers never see a partially written file. */
import { open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, writeWhole } from '@shoal/files'
import { isErrno } from '../terminal/errno.ts'
import { Failure } from '../terminal/failure.ts'

const staleLockMs = 10_000
const lockPollIntervalMs = 20

export type JsonObject = Record<string, unknown>

export async function readJsonFile(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return '{}'
    throw error
  })
  const value = parse(path, text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as JsonObject
  }
  throw unreadable(path)
}

/** Reads the file, applies `change`, and replaces the file atomically, while holding a lock. */
export async function updateJsonFile(
  path: string,
  mode: number,
  change: (content: JsonObject) => JsonObject,
): Promise<void> {
  makeFolder(dirname(path), 0o700)
  const unlock = await lock(`${path}.lock`)
  try {
    await writeJsonFile(path, mode, change(await readJsonFile(path)))
  } finally {
    await unlock()
  }
}

/** Replaces the file atomically, without a lock. */
export async function writeJsonFile(path: string, mode: number, content: object): Promise<void> {
  const json = `${JSON.stringify(content, undefined, 2)}\n`
  await writeWhole(path, json, { mode, folderMode: 0o700 })
}

async function lock(path: string): Promise<() => Promise<void>> {
  while (true) {
    const handle = await open(path, 'wx').catch((error: unknown) => {
      if (isErrno(error, 'EEXIST')) return undefined
      throw error
    })
    if (handle) {
      await handle.close()
      return () => rm(path, { force: true })
    }
    if (await isStale(path)) await rm(path, { force: true })
    else await sleep(lockPollIntervalMs)
  }
}

/** Whether a killed process left this lock behind. Locks are held only for milliseconds, so an old lock is stale. */
async function isStale(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return { mtimeMs: Date.now() }
    throw error
  })
  return Date.now() - mtimeMs > staleLockMs
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, cause?: unknown): Failure {
  return new Failure('failed', `${path} is not a valid JSON object.`, {
    hint: 'Fix or delete the file. If you delete it, the settings, sign-ins or conversation in it are lost.',
    cause,
  })
}
