import { startThread, terminateThread } from '@shoal/threads'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import { type Trouble, TroubleError } from '../trouble.ts'
import type { WorkerSetup } from './inline-chunk-worker.ts'

export function threadChunkWorker(setup: WorkerSetup): ChunkWorker {
  const thread = startThread<ChunkWorker>('chunk-thread', import.meta.url, setup)
  const { rpc } = thread
  return {
    fetch: (request, signal) => rpc.call('fetch', request, signal).catch(rethrow),
    check: (chunk) => rpc.call('check', chunk).catch(rethrow),
    close: () => terminateThread(thread),
  }
}

/** An error crosses threads with its properties, and without its class. */
function rethrow(error: Error & { trouble?: Trouble }): never {
  throw error.trouble ? new TroubleError(error.trouble) : error
}
