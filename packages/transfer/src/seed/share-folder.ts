import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { peerHostFor } from '../peers/peer-host.ts'
import type { SeedSetup, SeedStatus, SharedFileStatus } from './seed-messages.ts'
import { startSeeder } from './seeder.ts'
import { type ShareableOptions, shareableFiles } from './shareable-files.ts'

export type SharingOptions = Partial<Omit<SeedSetup, 'network'>> &
  Omit<ShareableOptions, 'onProblem'> & {
    /** Told of a file that is not shared, or no longer. */
    onDropped(file: string, message: string): void
    /** Told once, when nothing can be shared any more. */
    onFailed(message: string): void
  }

export type Sharing = {
  status(): SeedStatus
  /** Why nothing can be shared any more. */
  failure(): string | undefined
  /** How many files are shared, or about to be. */
  fileCount(): number
  /** Whether the folder is being looked at for the first time, so that more files may come at once. */
  isScanning(): boolean
  /** Resolves when the folder has been looked at for the first time. */
  firstScan: Promise<void>
  pause(): void
  resume(): void
  /** Nothing is shared after this. Rejects, when it is over, if something failed on the way. */
  close(): Promise<void>
}

/** Files that come and go are looked for so often. */
const scanIntervalMs = 30_000
/** Nobody waits longer for the first look: the registry may be away. */
const firstScanTimeoutMs = 1_000

/**
 * Gives others the pulled files of a folder of models, those of private models only where that is asked for.
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
  /** The torrents that are shared, by path. */
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
    host: registry ? peerHostFor(registry.address) : '0.0.0.0',
    ...setup,
    onDropped(path, message) {
      shared.delete(path)
      onProblem(path, message)
    },
  })

  /** A file is shared from when it was found, whatever the seeder has told of it. */
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
      await sleep(scanIntervalMs, undefined, { signal, ref: false }).catch(() => undefined) // the end
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
      stop.abort(new Error('sharing is over'))
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
 * As in `shoal-tiny/shoal-tiny-Q8_0.gguf`.
 * @example
 * import { sharedName } from '@shoal/transfer'
 *
 * console.log(sharedName('models/tide/tide.gguf')) // tide/tide.gguf
 */
export const sharedName = (path: string): string => `${basename(dirname(path))}/${basename(path)}`
