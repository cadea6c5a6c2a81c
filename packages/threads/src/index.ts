export {
  type LimitedThread,
  limitedThread,
  ThreadLimitError,
  type ThreadLimits,
} from './limited-thread.ts'
export {
  closeThread,
  startThread,
  type Thread,
  terminateThread,
  untilLoaded,
} from './start-thread.ts'
export { startWorker } from './start-worker.ts'
