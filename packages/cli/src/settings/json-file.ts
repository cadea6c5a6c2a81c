/** Small JSON files. `updateJsonFile` loses no concurrent updates, and readers never see a partially written file. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isErrno, makeFolder, writeWhole } from '@shoal/files'
import { Failure } from '../terminal/failure.ts'

/** The lock is held only for milliseconds. */
const lockPollMs = 20

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
  const { lockFile, removeLocks } = await import('@shoal/files/lock')
  const lockPath = `${path}.lock`
  const release = await lockFile(lockPath, { pollMs: lockPollMs })
  try {
    await writeJsonFile(path, mode, change(await readJsonFile(path)))
  } finally {
    await removeLocks([lockPath], release)
  }
}

/** Replaces the file atomically, without a lock. */
export async function writeJsonFile(path: string, mode: number, content: object): Promise<void> {
  const json = `${JSON.stringify(content, undefined, 2)}\n`
  await writeWhole(path, json, { mode, folderMode: 0o700 })
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
