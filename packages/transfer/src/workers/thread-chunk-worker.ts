import { startThread, terminateThread } from '@shoal/threads'
import { TransferError, type TransferFailure } from '../failure.ts'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import type { WorkerSetup } from './inline-chunk-worker.ts'

export function threadChunkWorker(setup: WorkerSetup): ChunkWorker {
  const thread = startThread<ChunkWorker>('chunk-thread', import.meta.url, setup, {
    resourceLimits: { maxYoungGenerationSizeMb: 1 },
  })
  const { rpc } = thread
  return {
    fetch: (request, signal) => rpc.call('fetch', request, signal).catch(rethrow),
    check: (chunk) => rpc.call('check', chunk).catch(rethrow),
    close: () => terminateThread(thread),
  }
}

/** Restores the class of a `TransferError`, because errors sent between threads keep only their properties. */
function rethrow(error: Error & { transferFailure?: TransferFailure }): never {
  throw error.transferFailure ? new TransferError(error.transferFailure) : error
}
