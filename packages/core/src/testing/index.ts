/** Examples for property tests, shared by several packages. */
export { fileSetExamples } from './file-sets.ts'
export { loopbackHosts, otherHosts } from './hosts.ts'
export { markdownExamples } from './markdown-examples.ts'
export {
  durationExamples,
  endless,
  notDurations,
  notSizes,
  sizeExamples,
} from './quantities.ts'
export { randomFrom, seededRandom } from './random.ts'
