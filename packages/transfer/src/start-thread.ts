import { Worker } from 'node:worker_threads'

/** Starts `name` beside `parentUrl` as a thread, as a source or as built. */
export function startThread(name: string, parentUrl: string, workerData: unknown): Worker {
  const extension = parentUrl.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, parentUrl), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 4 }, // they handle few objects; the default may grow to 48 MB
  })
}

/** Has a thread that knows this message finish, and ends one that takes longer. */
export async function closeThread(thread: Worker, atMostMs: number): Promise<void> {
  if (thread.threadId === -1) return // it has ended
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  thread.postMessage({ call: 'close' })
  const overdue = setTimeout(() => thread.terminate(), atMostMs)
  await exited
  clearTimeout(overdue)
}
