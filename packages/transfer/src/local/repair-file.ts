import { rename, unlink } from 'node:fs/promises'
import type { NetworkSettings } from '@shoal/network'
import type { RegistryClient } from '@shoal/protocol/client'
import { makeTuning, type Tuning } from '../chunks/tuning.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import { createJournal } from '../disk/journal.ts'
import { lockModelFile } from '../disk/lock-model-file.ts'
import { copyToPartial } from '../disk/own-copy.ts'
import { isOfRegistry, readRecord } from '../disk/record.ts'
import { toManifest } from '../disk/record-manifest.ts'
import { isForeign } from '../disk/stamp.ts'
import { noRecord, verificationFailed } from '../errors.ts'
import type { PullEvent } from '../events.ts'
import type { Limit } from '../limit.ts'
import { pullUnderLock } from '../pull/pull-under-lock.ts'
import { retryingClient } from '../retrying-client.ts'

export type RepairOptions = {
  client: RegistryClient
  /** A damaged file that has a record. */
  path: string
  rateLimit?: Limit | undefined
  connections?: number | undefined
  /** Default: direct connections. */
  network?: NetworkSettings | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PullEvent) => void) | undefined
  /** Overrides for tests and unusual networks. */
  tuning?: Partial<Tuning> | undefined
}

export type RepairedFile = { path: string; repairedBytes: number }

/**
 * Repairs a damaged file by downloading only its bad chunks. During the repair, the file is a partial file and does not
 * exist under its own name, so that it is never mistaken for a complete file. After a crash, a pull finishes the
 * repair. A file that other programs use too, behind a symbolic link or with another hard link, is not changed: shoal
 * repairs a copy, and uses the copy from then on. Throws `is_link` if the file's folder is a link.
 * @example
 * import { repairFile, verifyFile } from '@shoal/transfer'
 *
 * const path = 'models/tide/tide.gguf'
 * const { status } = await verifyFile({ path })
 * if (status === 'damaged') await repairFile({ client, path })
 */
export async function repairFile(given: RepairOptions): Promise<RepairedFile> {
  const { path } = given
  const { timeoutMs } = makeTuning(given)
  const report = given.onEvent ?? (() => undefined)
  const client = retryingClient(given.client, { timeoutMs, report })
  const options = { ...given, client }
  const signal = options.signal ?? new AbortController().signal
  const paths = getFilePaths(path)
  const release = await lockModelFile(path, { signal })
  try {
    const record = await readRecord(path)
    if (record === undefined || !isOfRegistry(record)) throw noRecord(path)
    // Called before the file is renamed, so that a file that cannot be repaired keeps its name.
    const file = await client.getFile(record.model_id, record.file_id, signal)
    if (file.sha256_hash !== record.sha256_hash) {
      throw verificationFailed(`${record.filename} has changed on the registry since the pull`, {
        expected: record.sha256_hash,
        actual: file.sha256_hash,
      })
    }
    const manifest = toManifest(record)
    const allClaimed = Int32Array.from(manifest.chunks, ({ size }) => size)
    createJournal(paths.journal, manifest, allClaimed).close()
    if (await isForeign(path)) {
      await copyToPartial(path, path, record.file_size_bytes)
      await unlink(path) // removes only this name; the other program's file stays as it is
    } else await rename(path, paths.partial)
    const modelName = record.model_name
    const { receivedBytes } = await pullUnderLock({ ...options, modelName, file }, signal)
    report({ type: 'done' })
    return { path, repairedBytes: receivedBytes }
  } finally {
    release()
  }
}
