import { Worker } from 'node:worker_threads'
import type { ThreadData } from './thread-setup.ts'

const loading = new WeakMap<Worker, Promise<unknown>>()

/** Starts `name` beside `parentUrl` as a thread, as a source or as built. It gets `setup` from `threadSetup`. */
export function startThread(name: string, parentUrl: string, setup: unknown): Worker {
  const extension = parentUrl.endsWith('.ts') ? 'ts' : 'js'
  const isLoaded = new Int32Array(new SharedArrayBuffer(4))
  const workerData: ThreadData = { setup, isLoaded }
  const thread = new Worker(new URL(`./${name}.${extension}`, parentUrl), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 4 }, // they handle few objects; the default may grow to 48 MB
  })
  const exited = new Promise((resolve) => thread.once('exit', resolve))
  loading.set(thread, Promise.race([Atomics.waitAsync(isLoaded, 0, 0).value, exited]))
  return thread
}

/** Resolves when a thread has loaded its modules, or has ended. */
export async function untilLoaded(thread: Worker): Promise<void> {
  await loading.get(thread)
}

/** Ends a thread, once it has loaded: a native addon whose loading is cut short aborts the process. */
export async function terminateThread(thread: Worker): Promise<void> {
  await untilLoaded(thread)
  await thread.terminate()
}

/** Has a thread that knows this message finish, and ends one that takes longer than `timeoutMs` for it once it has loaded. */
export async function closeThread(thread: Worker, timeoutMs: number): Promise<void> {
  if (thread.threadId === -1) return // it has ended
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  thread.postMessage({ call: 'close' })
  await untilLoaded(thread)
  const overdue = setTimeout(() => thread.terminate(), timeoutMs)
  await exited
  clearTimeout(overdue)
}
