/** What the registry and the daemon have in common as HTTP servers. */
export {
  answerBrokenRequest,
  answerUnknownExpectations,
  type ErrorAnswers,
} from './broken-requests.ts'
export { drainOf } from './drain.ts'
export { refuseDeepBodies } from './nesting.ts'
