/** The thread behind `threadChunkWorker`. */
import { serveParent } from '../serve-parent.ts'
import { inlineChunkWorker, type WorkerSetup } from './chunk-worker.ts'
import { bufferCollector } from './free-buffers.ts'

serveParent((setup: WorkerSetup) => inlineChunkWorker(setup, bufferCollector()))
