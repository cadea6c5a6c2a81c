import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { exists, syncFolder } from '@shoal/files'
import { directNetwork } from '@shoal/network'
import type { Manifest } from '../chunks/manifest.ts'
import { makeTuning } from '../chunks/tuning.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import { keepRecord, packChunks } from '../disk/finished-file.ts'
import { forgetImport } from '../disk/import-record.ts'
import { forgetDownload } from '../disk/kept-download.ts'
import { keepTorrent } from '../disk/kept-torrent.ts'
import { openPartial } from '../disk/partial-file.ts'
import { ensureRoom } from '../disk/room.ts'
import { fileInTheWay, verificationFailed } from '../errors.ts'
import { getTorrent } from '../peers/get-torrent.ts'
import { progressMeter } from '../progress-meter.ts'
import { findDownload } from './find-download.ts'
import { type PulledChunks, pullChunks, sharesByName } from './pull-chunks.ts'
import type { PullOptions } from './pull-options.ts'

const torrentTimeoutMs = 2_000

/**
 * Pulls the file, and renames the partial file to `path`. The caller must hold the file's lock, and `path` must not
 * exist.
 */
export async function pullUnderLock(
  options: PullOptions,
  signal: AbortSignal,
): Promise<PulledChunks> {
  const { file, path } = options
  const { partial } = getFilePaths(path)
  await ensureRoom(partial, file.file_size_bytes)
  const found = await findDownload(options, signal)
  const { manifest } = found
  const meter = progressMeter(manifest.fileSizeBytes)

  const first = await attempt()
  if (first.sha256 === manifest.sha256) return finish(first)
  // Every chunk matches its hash, but the file does not: either the disk returned different bytes from those written,
  // or the manifest contradicts itself. A second attempt hashes the chunks on disk again and downloads the bad ones. If
  // the file still does not match, the manifest is wrong.
  const second = await attempt()
  if (second.sha256 === manifest.sha256) return finish(mergeAttempts(first, second))
  await rm(partial)
  await clearUp(path)
  throw verificationFailed(`${file.filename} does not match its SHA-256`, {
    expected: manifest.sha256,
    actual: second.sha256,
    isDeleted: true,
  })

  async function attempt() {
    const partialFile = await openPartial(path, manifest)
    try {
      const pulled = await pullChunks({
        ...options,
        ...found,
        partial: partialFile,
        connections: Math.max(1, options.connections ?? 8),
        rateLimit: options.rateLimit,
        peerSettings: {
          peers: options.peers ?? 'off',
          uploadLimit: options.uploadLimit,
          isLocalDiscoveryOn: options.isLocalDiscoveryOn ?? false,
        },
        network: options.network ?? directNetwork,
        tuning: makeTuning(options),
        meter,
        signal,
        report: options.onEvent ?? (() => undefined),
      })
      await partialFile.sync()
      return pulled
    } catch (error) {
      // The saved response may be wrong, so the next pull requests a new one from the registry.
      if (hasCode(error, 'verification_failed')) await forgetDownload(path)
      throw error
    } finally {
      partialFile.close()
    }
  }

  async function finish(pulled: PulledChunks) {
    signal.throwIfAborted()
    await giveName(path, manifest, options)
    if (options.peers && options.peers !== 'off') await saveTorrent(options, signal)
    return pulled
  }
}

/**
 * Combines the results of two attempts. `second.resumedBytes` is ignored, because it includes the bytes that `first`
 * downloaded.
 */
function mergeAttempts(first: PulledChunks, second: PulledChunks): PulledChunks {
  const dropped = new Map(first.dropped)
  for (const [sender, count] of second.dropped) {
    dropped.set(sender, (dropped.get(sender) ?? 0) + count)
  }
  return {
    ...second,
    resumedBytes: first.resumedBytes,
    receivedBytes: first.receivedBytes + second.receivedBytes,
    sources: sharesByName([...first.sources, ...second.sources]),
    dropped,
  }
}

/**
 * Deletes the auxiliary files of a finished or abandoned partial file: its journal, its saved response, its saved port,
 * and unfinished copies of the file and of its record.
 */
export async function clearUp(path: string): Promise<void> {
  const { journal, record, copy, contact } = getFilePaths(path)
  await rm(journal, { force: true })
  await rm(copy, { force: true })
  await rm(contact, { force: true })
  await rm(`${journal}.new`, { force: true })
  await forgetDownload(path)
  for (const name of await readdir(dirname(record))) {
    const isUnwritten = name.startsWith(`${basename(record)}.`) && name.endsWith('.new')
    if (isUnwritten) await rm(join(dirname(record), name), { force: true })
  }
}

/**
 * Saves the torrent if it is available without signing in, so that the file can be shared while the registry is
 * offline. If this fails, the torrent is requested again when the file is shared.
 */
async function saveTorrent({ client, file, path }: PullOptions, signal: AbortSignal) {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(torrentTimeoutMs)])
  const ids = { modelId: file.model_id, fileId: file.id }
  const found = await getTorrent(client, ids, soon).catch(() => undefined)
  if (found?.isOpen) await keepTorrent(path, found.torrent).catch(() => undefined)
}

async function giveName(path: string, manifest: Manifest, options: PullOptions) {
  const { partial } = getFilePaths(path)
  if (await exists(path)) throw fileInTheWay(path, 'was created during the pull')
  await rename(partial, path)
  await syncFolder(dirname(path))
  await forgetImport(path) // an imported file that has been repaired is now shoal's own
  await keepRecord(path, options, {
    chunk_size: manifest.chunkSize,
    chunk_hashes: packChunks(manifest.chunks),
  })
  await clearUp(path)
}
