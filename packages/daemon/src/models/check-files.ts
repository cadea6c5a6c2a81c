/**
 * Hashes imported files that have not been hashed since they last changed: in the background, and if they have changed,
 * also before they are loaded.
 */
import { accessSync, constants, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '@shoal/core/errors'
import { isErrno } from '@shoal/files'
import type { Log } from '@shoal/log'
import { checkImport, type LocalFile, listLocalFiles } from '@shoal/transfer'
import { Fault } from '../errors.ts'
import type { LocalModel } from './local-models.ts'

/** How often the folder is searched for newly imported files. */
const searchIntervalMs = 30_000

/** Hashes the changed files of a model. Throws a `Fault` if a file is not the one that was pulled or imported. */
export async function checkFiles({ id, changed }: Pick<LocalModel, 'id' | 'changed'>) {
  for (const file of changed) {
    try {
      await checkImport(file)
    } catch (error) {
      if (hasCode(error, 'damaged_file')) {
        const message = `model ${id} is damaged: ${file.path} does not have the expected hash`
        throw new Fault('damaged_file', message, { param: 'model' })
      }
      if (hasCode(error, 'file_changed')) {
        const message = `model ${id}: ${file.path} changed while it was being hashed`
        throw new Fault('model_not_loaded', message)
      }
      throw error
    }
  }
}

/**
 * Hashes the imported files in a folder one after another, including files that are imported later. Begins after the
 * first search of the read-only model folders. Failures are logged. Returns a function that stops the work.
 */
export function checkInBackground(
  directory: string,
  firstSearch: Promise<void>,
  log: Pick<Log, 'info' | 'warn'>,
): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  /** Failures by path. Each is logged once, and the file is not hashed again until it changes. */
  const failed = new Map<string, { modifiedAt: number; message: string }>()
  /** Why the folder could not be listed the last time. */
  let listFailure: string | undefined

  async function check(file: LocalFile) {
    const modifiedAt = file.modifiedAt.getTime()
    const former = failed.get(file.path)
    if (former?.modifiedAt === modifiedAt) return
    try {
      if (!(await checkImport(file, { signal }))) return
      failed.delete(file.path)
      log.info({ path: file.path }, 'an imported file has been hashed')
    } catch (error) {
      signal.throwIfAborted()
      const { message } = error as Error
      if (former?.message !== message) {
        log.warn({ path: file.path, reason: message }, 'an imported file could not be verified')
      }
      failed.set(file.path, { modifiedAt, message })
    }
  }

  async function checkAll() {
    try {
      for (const file of (await listLocalFiles(directory)).filter(isUnchecked)) await check(file)
      listFailure = undefined
    } catch (error) {
      signal.throwIfAborted()
      const { message } = error as Error
      if (listFailure !== message) log.warn({ reason: message }, 'hashing imported files failed')
      listFailure = message
    }
  }

  async function run() {
    await firstSearch
    for (;;) {
      await checkAll()
      await sleep(searchIntervalMs, undefined, { signal, ref: false })
    }
  }

  const running = run().catch((error: Error) => {
    if (!signal.aborted) throw error
  })
  return async () => {
    stop.abort(new Error('the daemon is shutting down'))
    await running
  }
}

/** Whether hashes can be recorded in a model's folder. Otherwise, its files would be hashed every 30 seconds. */
function canRecord(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return !lstatSync(folder).isSymbolicLink()
  } catch (error) {
    if (isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT')) return false
    throw error
  }
}

const isUnchecked = ({ path, isFinished, isVerified, imported, target, record }: LocalFile) =>
  isFinished &&
  !isVerified &&
  canRecord(dirname(path)) &&
  (imported !== undefined || (target !== undefined && record !== undefined))
