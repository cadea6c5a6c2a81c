/** The entry point of the thread that `threadChunkWorker` starts. */
import { serveParent } from '@shoal/threads/parent'
import { bufferCollector } from './free-buffers.ts'
import { inlineChunkWorker, type WorkerSetup } from './inline-chunk-worker.ts'

serveParent((setup: WorkerSetup) => inlineChunkWorker(setup, bufferCollector()))
