/** A process that starts a thread and waits for its end. */
import { once } from 'node:events'
import { startWorker } from '../start-worker.ts'

await once(startWorker('wasm-thread', import.meta.url, {}), 'exit')
