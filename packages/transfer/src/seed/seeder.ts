import { directNetwork } from '@shoal/network'
import { closeThread, startThread } from '../start-thread.ts'
import type { FromSeeder, SeedSetup, SeedStanding, SharedFile, ToSeeder } from './seed-messages.ts'

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
  const thread = startThread('seed-thread', import.meta.url, setup)
  let standing: SeedStanding = { port: 0, isPaused: false, bytesPerSecond: 0, files: [] }
  let failure: string | undefined
  function fail(message: string) {
    if (failure === undefined) onFailed?.(message)
    failure ??= message
  }

  thread.on('error', (error: Error) => fail(error.message))
  thread.on('message', (message: FromSeeder) => {
    if (message.event === 'standing') standing = message.standing
    else if (message.event === 'dropped') onDropped?.(message.path, message.message)
    else fail(message.message)
  })
  const send = (message: ToSeeder) => thread.postMessage(message)

  return {
    share: (file: SharedFile) => send({ call: 'share', file }),
    unshare: (path: string) => send({ call: 'unshare', path }),
    pause: () => send({ call: 'pause' }),
    resume: () => send({ call: 'resume' }),
    standing: () => standing,
    failure: () => failure,
    /** `standing` is the last one then. */
    close: () => closeThread(thread, closeAtMostMs),
  }
}
