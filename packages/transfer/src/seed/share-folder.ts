import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getContactPath } from '../disk/file-paths.ts'
import type { Limit } from '../limit.ts'
import { peerHostFor } from '../peers/peer-host.ts'
import type { SeedSetup, SeedStatus, SharedFileStatus } from './seed-messages.ts'
import { startSeeder } from './seeder.ts'
import { type ShareableOptions, shareableFiles } from './shareable-files.ts'

export type SharingOptions = Partial<Omit<SeedSetup, 'network' | 'uploadLimit' | 'contactPath'>> &
  Omit<ShareableOptions, 'onProblem'> & {
    /** Maximum number of bytes per second sent to peers. */
    uploadLimit?: Limit | undefined
    /** Called when a file is not shared, or is no longer shared. */
    onDropped(file: string, message: string): void
    /** Called once, if all sharing has failed permanently. `code` is that of a system error, such as `EADDRINUSE`. */
    onFailed(message: string, code?: string): void
  }

export type Sharing = {
  status(): SeedStatus
  /** The failure that ended all sharing; undefined while sharing works. */
  failure(): string | undefined
  /** Number of files that are shared or about to be shared. */
  fileCount(): number
  /** Whether the first scan of the folder is still running, in which case more files may follow soon. */
  isScanning(): boolean
  /** Resolves after the first scan of the folder. */
  firstScan: Promise<void>
  pause(): void
  resume(): void
  /** Stops sharing. Rejects if something failed, but only after sharing has stopped. */
  close(): Promise<void>
}

/** How often the folder is scanned for new and deleted files. */
const scanIntervalMs = 30_000
/**
 * `shareFolder` returns after at most this time, even if the first scan is still running: the registry may be offline.
 */
const firstScanTimeoutMs = 1_000

/**
 * Shares the pulled files of a models folder, and the imported files that the user has chosen to share. Files of
 * private models are shared only if `isPrivateShared` is set.
 * @example
 * import { shareFolder } from '@shoal/transfer'
 *
 * const sharing = await shareFolder({
 *   modelsDirectory: 'models',
 *   registry: { address: 'http://localhost:8000', token },
 *   host: '127.0.0.1',
 *   uploadLimit: 1_000_000, // bytes per second
 *   onDropped: (file, message) => console.error(file, message),
 *   onFailed: (message) => console.error(message),
 * })
 * console.log(sharing.fileCount(), sharing.status().bytesPerSecond)
 * await sharing.close()
 */
export async function shareFolder(options: SharingOptions): Promise<Sharing> {
  const { modelsDirectory, registry, isPrivateShared, onDropped, network, ...others } = options
  const setup = { ...others, ...(network && { network }) }
  const stop = new AbortController()
  const { signal } = stop
  /** The torrents of shared files, keyed by path. */
  const shared = new Map<string, Uint8Array>()
  const onProblem = (path: string, message: string) => onDropped(sharedName(path), message)
  const findFiles = shareableFiles({
    modelsDirectory,
    registry,
    isPrivateShared,
    network,
    onProblem,
  })
  const seeder = startSeeder({
    ...(registry && { host: peerHostFor(registry.address) }),
    contactPath: getContactPath(modelsDirectory),
    ...setup,
    onDropped(path, message) {
      shared.delete(path)
      onProblem(path, message)
    },
  })

  /** Returns the seeder's status with all files found so far, including those that the seeder has not reported yet. */
  function status(): SeedStatus {
    const now = seeder.status()
    const reported = new Map(now.files.map((file) => [file.path, file]))
    const files = Array.from(shared.keys(), (path) => reported.get(path) ?? emptyStatus(path))
    return { ...now, files }
  }

  async function scan() {
    const files = await findFiles(signal)
    const found = new Map(files.map((file) => [file.path, file]))
    for (const [path, torrent] of [...shared]) {
      const now = found.get(path)?.torrent
      if (now && Buffer.compare(now, torrent) === 0) continue
      shared.delete(path)
      seeder.unshare(path)
    }
    for (const file of files.filter(({ path }) => !shared.has(path))) {
      shared.set(file.path, file.torrent)
      seeder.share(file)
    }
  }

  async function keepScanning() {
    while (!signal.aborted) {
      await scan().catch((error: Error) => {
        if (!signal.aborted) onDropped(modelsDirectory, error.message)
      })
      isScanning = false
      firstScan.resolve()
      await sleep(scanIntervalMs, undefined, { signal, ref: false }).catch(() => undefined) // the signal ends the loop
    }
  }
  let isScanning = true
  const firstScan = Promise.withResolvers<void>()
  const scanning = keepScanning()
  await Promise.race([firstScan.promise, sleep(firstScanTimeoutMs, undefined, { ref: false })])

  return {
    status,
    failure: seeder.failure,
    fileCount: () => shared.size,
    isScanning: () => isScanning,
    firstScan: firstScan.promise,
    pause: seeder.pause,
    resume: seeder.resume,
    async close() {
      stop.abort(new Error('sharing has stopped'))
      await seeder.close().finally(() => scanning)
    },
  }
}

const emptyStatus = (path: string): SharedFileStatus => ({
  path,
  peers: 0,
  uploadedBytes: 0,
  isDone: false,
})

/**
 * The name of a shared file in messages, for example `shoal-tiny/shoal-tiny-Q8_0.gguf`.
 * @example
 * import { sharedName } from '@shoal/transfer'
 *
 * console.log(sharedName('models/tide/tide.gguf')) // tide/tide.gguf
 */
export const sharedName = (path: string): string => `${basename(dirname(path))}/${basename(path)}`
