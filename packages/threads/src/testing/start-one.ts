/**
 * A process that starts a thread and waits for the thread to end. With the argument `plain`, it uses Node's own
 * `Worker`.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { startWorker } from '../start-worker.ts'

const thread =
  process.argv[2] === 'plain'
    ? new Worker(new URL('./wasm-thread.ts', import.meta.url))
    : startWorker('wasm-thread', import.meta.url, {})
await once(thread, 'exit')
