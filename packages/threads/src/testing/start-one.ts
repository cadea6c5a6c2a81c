/**
 * A program that starts `wasm-thread.ts` and waits for the thread to end. It uses `startWorker`, or Node's own `Worker`
 * if the argument is `plain`.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { startWorker } from '../start-worker.ts'

const thread =
  process.argv[2] === 'plain'
    ? new Worker(new URL('./wasm-thread.ts', import.meta.url))
    : startWorker('wasm-thread', import.meta.url, {})
await once(thread, 'exit')
