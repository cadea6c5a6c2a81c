/** The thread behind `threadChunkWorker`: it does what messages say and answers each. */
import { parentPort } from 'node:worker_threads'
import { threadSetup } from '../thread-setup.ts'
import { type Trouble, TroubleError } from '../trouble.ts'
import { inlineChunkWorker, type WorkerSetup } from './chunk-worker.ts'
import type { ChunkRequest } from './fetch-chunk.ts'
import { bufferCollector } from './free-buffers.ts'
import type { Chunk } from './manifest.ts'

export type Order =
  | { id: number; call: 'fetch'; request: ChunkRequest }
  | { id: number; call: 'check'; chunk: Chunk }
  | { id: number; call: 'abort' }

export type Reply =
  | { id: number; sha256: string }
  | { id: number; trouble: Trouble }
  /** Neither trouble nor success: the order was aborted, or this is a bug. */
  | { id: number; error: unknown }

const worker = inlineChunkWorker(threadSetup<WorkerSetup>(), bufferCollector())
const running = new Map<number, AbortController>()

async function obey(order: Exclude<Order, { call: 'abort' }>): Promise<string> {
  if (order.call === 'fetch') {
    const abort = new AbortController()
    running.set(order.id, abort)
    return worker.fetch(order.request, abort.signal).finally(() => running.delete(order.id))
  }
  return worker.check(order.chunk)
}

parentPort?.on('message', async (order: Order) => {
  const { id } = order
  if (order.call === 'abort') {
    running.get(id)?.abort(new Error('aborted')) // a plain error: it crosses threads
    return
  }
  const reply: Reply = await obey(order).then(
    (sha256) => ({ id, sha256 }),
    (error) => (error instanceof TroubleError ? { id, trouble: error.trouble } : { id, error }),
  )
  parentPort?.postMessage(reply)
})
