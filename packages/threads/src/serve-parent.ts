import { parentPort, workerData } from 'node:worker_threads'
import { type Methods, type Notify, openRpc, parentThreadPort } from '@shoal/core/rpc'

/**
 * Serves calls from the parent of this thread. `open` receives the `setup` that was passed to `startThread`, and a
 * function that notifies the parent. Call `serveParent` after all modules of the thread are loaded, because it reports
 * to the parent that the thread is ready.
 */
export function serveParent<Setup, Theirs = unknown>(
  open: (setup: Setup, notify: Notify<Theirs>) => Methods,
): void {
  if (!parentPort) throw new Error('serveParent must be called in a worker thread')
  const ours: Methods = {}
  const { notify } = openRpc<Theirs>(parentThreadPort(parentPort), ours)
  Object.assign(ours, open(workerData as Setup, notify)) // must happen before the first message is read
}
