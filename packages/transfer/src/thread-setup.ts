import { workerData } from 'node:worker_threads'

export type ThreadData = {
  setup: unknown
  /** One Int32: 1 once the thread has loaded its modules. */
  isLoaded: Int32Array
}

/** What `startThread` was given. To be called when all modules of the thread have been loaded: it says so. */
export function threadSetup<Setup>(): Setup {
  const { setup, isLoaded } = workerData as ThreadData
  Atomics.store(isLoaded, 0, 1)
  Atomics.notify(isLoaded, 0)
  return setup as Setup
}
