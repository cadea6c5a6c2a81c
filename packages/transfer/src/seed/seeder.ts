import { directNetwork } from '@shoal/network'
import { closeThread, startThread } from '@shoal/threads'
import type {
  SeederEvents,
  SeederMethods,
  SeedSetup,
  SeedStatus,
  SharedFile,
} from './seed-messages.ts'

export type SeederOptions = Partial<SeedSetup> & {
  /** Called when a file cannot be shared, or no longer. */
  onDropped?: (path: string, message: string) => void
  /** Called once, when nothing can be shared any more. */
  onFailed?: (message: string) => void
}

/** WebTorrent waits a second for trackers that do not respond. */
const closeTimeoutMs = 3_000

/** Shares files with peers. */
export interface Seeder {
  /** Shares the file until `unshare` or `onDropped`. Its path identifies it. */
  share(file: SharedFile): void
  unshare(path: string): void
  /** Disconnects peers and notifies trackers. `resume` shares the same files again. */
  pause(): void
  resume(): void
  /** The status that the thread last reported; it reports every second. */
  status(): SeedStatus
  /** Why nothing can be shared any more; undefined while sharing works. */
  failure(): string | undefined
  /**
   * Tells trackers that we stop. Takes up to three seconds once the thread has loaded. After that,
   * `status` returns the last one. Rejects, once closed, if something failed.
   */
  close(): Promise<void>
}

/** Runs in its own thread. Shares nothing before the first `share`. */
export function startSeeder({ onDropped, onFailed, ...options }: SeederOptions): Seeder {
  const setup: SeedSetup = {
    network: directNetwork,
    host: '0.0.0.0',
    port: 0,
    uploadLimit: undefined,
    ratio: undefined,
    isLocalDiscoveryOn: false,
    ...options,
  }
  let status: SeedStatus = { port: 0, isPaused: false, bytesPerSecond: 0, files: [] }
  let failure: string | undefined
  function fail(message: string) {
    if (failure === undefined) onFailed?.(message)
    failure ??= message
  }

  const events: SeederEvents = {
    status(reported) {
      status = reported
    },
    dropped: ({ path, message }) => onDropped?.(path, message),
    failed: fail,
  }
  const thread = startThread<SeederMethods>('seed-thread', import.meta.url, setup, events)
  thread.worker.on('error', (error: Error) => fail(error.message))
  const { notify } = thread.rpc

  return {
    share: (file) => notify('share', file),
    unshare: (path) => notify('unshare', path),
    pause: () => notify('pause'),
    resume: () => notify('resume'),
    status: () => status,
    failure: () => failure,
    close: () => closeThread(thread, closeTimeoutMs),
  }
}
