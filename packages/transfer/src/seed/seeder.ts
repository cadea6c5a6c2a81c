import { directNetwork } from '@shoal/network'
import { closeThread, startThread } from '../start-thread.ts'
import type {
  SeederEvents,
  SeederMethods,
  SeedSetup,
  SeedStanding,
  SharedFile,
} from './seed-messages.ts'

export type SeederOptions = Partial<SeedSetup> & {
  /** Told of a file that cannot be shared, or no longer. */
  onDropped?: (path: string, message: string) => void
  /** Told once, when nothing can be shared any more. */
  onFailed?: (message: string) => void
}

/** The library waits a second for trackers that do not answer. */
const closeAtMostMs = 3_000

/** Shares files with other people, in a thread of its own. Nothing is shared before `share`. */
export function startSeeder({ onDropped, onFailed, ...options }: SeederOptions) {
  const setup: SeedSetup = {
    network: directNetwork,
    host: '0.0.0.0',
    port: 0,
    uploadLimit: undefined,
    ratio: undefined,
    isLocalDiscoveryOn: false,
    ...options,
  }
  let standing: SeedStanding = { port: 0, isPaused: false, bytesPerSecond: 0, files: [] }
  let failure: string | undefined
  function fail(message: string) {
    if (failure === undefined) onFailed?.(message)
    failure ??= message
  }

  const events: SeederEvents = {
    standing(told) {
      standing = told
    },
    dropped: ({ path, message }) => onDropped?.(path, message),
    failed: fail,
  }
  const thread = startThread<SeederMethods>('seed-thread', import.meta.url, setup, events)
  thread.worker.on('error', (error: Error) => fail(error.message))
  const { notify } = thread.rpc

  return {
    share: (file: SharedFile) => notify('share', file),
    unshare: (path: string) => notify('unshare', path),
    pause: () => notify('pause'),
    resume: () => notify('resume'),
    standing: () => standing,
    failure: () => failure,
    /** `standing` is the last one then. */
    close: () => closeThread(thread, closeAtMostMs),
  }
}
