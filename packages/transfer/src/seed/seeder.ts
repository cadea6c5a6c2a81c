import { directNetwork } from '@shoal/network'
import { closeThread, startThread } from '@shoal/threads'
import { followLimit, type Limit, readLimit } from '../limit.ts'
import { anyHost } from '../peers/peer-host.ts'
import type {
  SeederEvents,
  SeederMethods,
  SeedSetup,
  SeedStatus,
  SharedFile,
} from './seed-messages.ts'

export type SeederOptions = Partial<Omit<SeedSetup, 'uploadLimit'>> & {
  uploadLimit?: Limit | undefined
  /** Called when a file cannot be shared, or can no longer be shared. */
  onDropped?: (path: string, message: string) => void
  /** Called once, if all sharing has failed permanently. `code` is that of a system error, such as `EADDRINUSE`. */
  onFailed?: (message: string, code?: string) => void
}

/** Maximum time that closing may take. WebTorrent itself waits one second for trackers that do not respond. */
const closeTimeoutMs = 3_000

/** Shares files with peers. */
export interface Seeder {
  /** Shares the file until `unshare` or `onDropped` is called with its path. */
  share(file: SharedFile): void
  unshare(path: string): void
  /** Disconnects peers and notifies trackers. `resume` shares the same files again. */
  pause(): void
  resume(): void
  /** The status last reported by the thread, which reports it every second. */
  status(): SeedStatus
  /** The failure that ended all sharing; undefined while sharing works. */
  failure(): string | undefined
  /**
   * Stops sharing, and notifies trackers. This takes up to three seconds once the thread has loaded. Afterwards,
   * `status` returns the final status. Rejects if something failed, but only after the seeder has closed.
   */
  close(): Promise<void>
}

/** Starts a seeder in its own thread. It shares nothing until `share` is called. */
export function startSeeder(given: SeederOptions): Seeder {
  const { onDropped, onFailed, uploadLimit, ...options } = given
  const setup: SeedSetup = {
    network: directNetwork,
    host: anyHost(),
    port: 0,
    contactPath: undefined,
    ratio: undefined,
    isLocalDiscoveryOn: false,
    ...options,
    uploadLimit: readLimit(uploadLimit),
  }
  let status: SeedStatus = { port: 0, isPaused: false, bytesPerSecond: 0, files: [] }
  let failure: string | undefined
  function fail({ message, code }: { message: string; code?: string | undefined }) {
    if (failure === undefined) onFailed?.(message, code)
    failure ??= message
  }

  const events: SeederEvents = {
    status(reported) {
      status = reported
    },
    dropped: ({ path, message }) => onDropped?.(path, message),
    failed: fail,
  }
  const thread = startThread<SeederMethods>('seed-thread', import.meta.url, setup, {
    ours: events,
  })
  thread.worker.on('error', fail)
  const { notify } = thread.rpc
  const stopFollowing = followLimit(
    uploadLimit,
    (bytesPerSecond) => notify('limit', bytesPerSecond),
    () => status.bytesPerSecond > 0,
  )

  return {
    share: (file) => notify('share', file),
    unshare: (path) => notify('unshare', path),
    pause: () => notify('pause'),
    resume: () => notify('resume'),
    status: () => status,
    failure: () => failure,
    close() {
      stopFollowing()
      return closeThread(thread, closeTimeoutMs)
    },
  }
}
