/** A thread that loads slowly and never finishes closing. */
import { workerData } from 'node:worker_threads'

const { hasLoaded, loadMs } = workerData as LateSetup
Atomics.wait(hasLoaded, 0, 0, loadMs)
Atomics.store(hasLoaded, 0, 1)
const { serveParent } = await import('../serve-parent.ts')
serveParent(() => ({ close: () => new Promise(() => undefined) }))

/** `hasLoaded` becomes 1 when the thread has loaded. */
export type LateSetup = { hasLoaded: Int32Array; loadMs: number }
