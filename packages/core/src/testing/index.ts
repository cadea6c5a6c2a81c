/** Examples for property tests, and a clock that a test moves, shared by several packages. */
export { fileSetExamples } from './file-sets.ts'
export { loopbackHosts, otherHosts } from './hosts.ts'
export { markdownExamples } from './markdown-examples.ts'
export { movedClock } from './moved-clock.ts'
export {
  durationExamples,
  endless,
  notDurations,
  notSizes,
  sizeExamples,
} from './quantities.ts'
export { randomFrom, seededRandom } from './random.ts'
