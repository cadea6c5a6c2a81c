import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isErrno } from '@shoal/files'
import { heldPath } from '@shoal/files/lock'
import { makeTuning } from '../chunks/tuning.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import { isFinished, isRecorded } from '../disk/finished-file.ts'
import { lockModelFile } from '../disk/lock-model-file.ts'
import { releaseFolder } from '../disk/model-folder.ts'
import { readPartialProgress } from '../disk/partial-file.ts'
import { findLinkTarget } from '../disk/refuse-link.ts'
import { reuseFile } from '../disk/reuse-file.ts'
import type { SourceShare } from '../events.ts'
import { type ProgressMeter, progressMeter } from '../progress-meter.ts'
import { retryingClient } from '../retrying-client.ts'
import type { PulledChunks } from './pull-chunks.ts'
import type { PullOptions } from './pull-options.ts'
import { clearUp, pullUnderLock } from './pull-under-lock.ts'

export type PulledFile = {
  path: string
  sha256_hash: string
  fileSizeBytes: number
  /** Bytes from an earlier run that were still valid. */
  resumedBytes: number
  downloadedBytes: number
  /** The part of `downloadedBytes` that was duplicate or damaged. */
  wastedBytes: number
  /** All senders of bytes, including bytes that turned out to be damaged. */
  sources: SourceShare[]
  /** Number of chunks that did not match their hash, by sender. */
  droppedChunks: { source: string; count: number }[]
  /** Whether the complete file already existed. */
  alreadyThere: boolean
  /** The target if the file is a link to another program's file, as after an import by reference. */
  target: string | undefined
  /** The path of the file with the same SHA-256 that was used instead of a download. */
  reusedFrom: string | undefined
}

/**
 * Downloads a file whose status is `ready` to `path`. Resolves once the finished file is on disk under its name and
 * matches the manifest's SHA-256. If the download is stopped, the bytes downloaded so far are kept, and the next call
 * resumes from there.
 * @example
 * import { pullFile } from '@shoal/transfer'
 *
 * const [file] = await client.listFiles('tide')
 * if (!file) throw new Error('tide has no files')
 * const path = `models/tide/${file.filename}`
 * const { downloadedBytes } = await pullFile({ client, modelName: 'tide', file, path })
 */
export async function pullFile(given: PullOptions): Promise<PulledFile> {
  const signal = given.signal ?? new AbortController().signal
  const { timeoutMs } = makeTuning(given)
  const report = given.onEvent ?? (() => undefined)
  const options = { ...given, client: retryingClient(given.client, { timeoutMs, report }) }
  const { path, file, findSame } = options
  const bytesTotal = file.file_size_bytes
  const onProgress = (bytesDone: number) => report({ type: 'checking', bytesDone, bytesTotal })
  const finish = (pulled?: PulledChunks, reusedFrom?: string): PulledFile => {
    report({ type: 'done' })
    return {
      path,
      sha256_hash: file.sha256_hash,
      fileSizeBytes: bytesTotal,
      resumedBytes: pulled?.resumedBytes ?? 0,
      downloadedBytes: pulled?.receivedBytes ?? 0,
      wastedBytes: pulled ? pulled.receivedBytes - (bytesTotal - pulled.resumedBytes) : 0,
      sources: pulled?.sources ?? [],
      droppedChunks: [...(pulled?.dropped ?? [])].map(([source, count]) => ({ source, count })),
      alreadyThere: pulled === undefined && reusedFrom === undefined,
      target: findLinkTarget(path),
      reusedFrom,
    }
  }
  // What needs no write needs no lock: the folder may be read-only, or belong to another user.
  const isTidy = !existsSync(getFilePaths(path).journal)
  if (isTidy && (await isRecorded(path, options))) return finish()
  const release = await takeTurn(options, signal).catch(async (error) => {
    const isReadOnly = isErrno(error, 'EACCES', 'EPERM', 'EROFS')
    const checks = { signal, onProgress, isReadOnly }
    if (isReadOnly && (await isFinished(path, options, checks))) return undefined
    throw error
  })
  if (release === undefined) return finish()
  let isFailed = true
  try {
    const isThere = await isFinished(path, options, { signal, onProgress })
    const reusedFrom =
      isThere || findSame === undefined
        ? undefined
        : await reuseFile({ ...options, findSame, signal, onProgress })
    const isWhole = isThere || reusedFrom !== undefined
    const pulled = isWhole ? undefined : await pullUnderLock(options, signal)
    if (isWhole) await clearUp(path) // an earlier run may have been stopped, or killed just before it cleaned up
    isFailed = false
    return finish(pulled, reusedFrom)
  } finally {
    release()
    if (isFailed) await releaseFolder(dirname(path))
  }
}

/**
 * Locks the file, and returns a function that releases the lock. While another call or process pulls the same file,
 * waits and reports the progress of that pull.
 */
function takeTurn({ path, file, onEvent }: PullOptions, signal: AbortSignal) {
  const { lock } = getFilePaths(path)
  let meter: ProgressMeter | undefined
  const onWait = () => {
    if (meter === undefined) {
      meter = progressMeter(file.file_size_bytes)
      const reason = existsSync(heldPath(lock))
        ? `another pull of this file is running, or was killed less than a minute ago (the file system of ${dirname(path)} has no locks)`
        : 'another pull of this file is running'
      onEvent?.({ type: 'waiting', seconds: 0, reason })
    }
    const bytesHere = readPartialProgress(path)?.bytesHere ?? 0
    onEvent?.({ type: 'progress', ...meter.read(bytesHere, bytesHere), sources: [] })
  }
  return lockModelFile(path, { signal, onWait })
}
