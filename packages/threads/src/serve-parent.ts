import { parentPort, workerData } from 'node:worker_threads'
import { type Methods, type Notify, openRpc, parentThreadPort } from '@shoal/core/rpc'

/**
 * Does what the parent of this thread calls. `open` gets what `startThread` was given, and what calls the parent. To be called
 * when all modules of the thread have been loaded: the parent learns of it.
 */
export function serveParent<Setup, Theirs = unknown>(
  open: (setup: Setup, notify: Notify<Theirs>) => Methods,
): void {
  if (!parentPort) throw new Error('this is not a thread')
  const ours: Methods = {}
  const { notify } = openRpc<Theirs>(parentThreadPort(parentPort), ours)
  Object.assign(ours, open(workerData as Setup, notify)) // before the first message is read
}
