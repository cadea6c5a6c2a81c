export {
  closeThread,
  startThread,
  type Thread,
  terminateThread,
  untilLoaded,
} from './start-thread.ts'
export { startWorker } from './start-worker.ts'
