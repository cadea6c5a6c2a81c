/** A thread that takes its time to load, and then does nothing until it is ended. */
import { workerData } from 'node:worker_threads'
import type { ThreadData } from '../thread-setup.ts'

const { hasLoaded, loadMs } = (workerData as ThreadData).setup as LateSetup
Atomics.wait(hasLoaded, 0, 0, loadMs)
Atomics.store(hasLoaded, 0, 1)
const { threadSetup } = await import('../thread-setup.ts')
threadSetup<LateSetup>()
setInterval(() => undefined, 1000)

/** `hasLoaded` becomes 1 when it has. */
export type LateSetup = { hasLoaded: Int32Array; loadMs: number }
