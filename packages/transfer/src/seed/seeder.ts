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
  /** Told of a file that cannot be shared, or no longer. */
  onDropped?: (path: string, message: string) => void
  /** Told once, when nothing can be shared any more. */
  onFailed?: (message: string) => void
}

/** The library waits a second for trackers that do not answer. */
const closeTimeoutMs = 3_000

/** Shares files with other people. */
export interface Seeder {
  /** From now on, until `unshare` or `onDropped`. Its path is its name. */
  share(file: SharedFile): void
  unshare(path: string): void
  /** Lets peers go, and tells trackers; `resume` begins again with the same files. */
  pause(): void
  resume(): void
  /** As the thread told it last: it does every second. */
  status(): SeedStatus
  /** Why nothing can be shared any more; undefined as long as it can. */
  failure(): string | undefined
  /**
   * Tells trackers that we are gone. Takes three seconds at most, once its thread has loaded. `standing` is the last one then.
   * Rejects, when it is over, if something failed on the way.
   */
  close(): Promise<void>
}

/** In a thread of its own. Nothing is shared before `share`. */
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
