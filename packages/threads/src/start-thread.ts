import type { Worker } from 'node:worker_threads'
import { type Methods, openRpc, type Rpc, threadPort } from '@shoal/core/rpc'
import { startWorker } from './start-worker.ts'

/** A thread that does `Theirs`. */
export type Thread<Theirs> = { worker: Worker; rpc: Rpc<Theirs> }

/**
 * Starts `name` beside `parentUrl` as a thread, as a source or as built. Its `serveParent` gets `setup`, and it may call `ours`.
 * An error that it does not catch ends it, and is its worker's `error` event.
 */
export function startThread<Theirs>(
  name: string,
  parentUrl: string,
  setup: unknown,
  ours?: Methods,
): Thread<Theirs> {
  const worker = startWorker(name, parentUrl, {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: 4 }, // they handle few objects; the default may grow to 48 MB
  })
  return { worker, rpc: openRpc(threadPort(worker), ours) }
}

/** Resolves when a thread has loaded its modules, or has ended. */
export async function untilLoaded({ rpc }: Thread<unknown>): Promise<void> {
  await rpc.ready.catch(() => undefined) // why is for those who call it
}

/** Fails whatever waits for a thread, and ends it once it has loaded: a native addon whose loading is cut short aborts the process. */
export async function terminateThread(thread: Thread<unknown>): Promise<void> {
  thread.rpc.close(new Error('the thread was stopped'))
  await untilLoaded(thread)
  await thread.worker.terminate()
}

/**
 * Has a thread finish, and ends it then, or when that takes longer than `timeoutMs` once it has loaded. If its `close` fails, rejects
 * with that error when the thread has ended. One that had ended before, or took too long, is none: `error` of its worker says why.
 */
export async function closeThread(
  thread: Thread<{ close(): Promise<void> }>,
  timeoutMs: number,
): Promise<void> {
  let failure: { error: unknown } | undefined
  const closing = thread.rpc.call('close').catch((error: unknown) => {
    if (!thread.rpc.isClosed) failure = { error } // otherwise the line says that it is closed, not the thread that it failed
  })
  await untilLoaded(thread)
  const overdue = setTimeout(() => terminateThread(thread), timeoutMs)
  await closing
  clearTimeout(overdue)
  await terminateThread(thread)
  if (failure) throw failure.error
}
