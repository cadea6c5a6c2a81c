/** Examples for the property tests of the packages that read them. */
export { fileSetExamples } from './file-sets.ts'
export { loopbackHosts, otherHosts } from './hosts.ts'
export {
  durationExamples,
  endless,
  notDurations,
  notSizes,
  sizeExamples,
} from './quantities.ts'
export { seededRandom } from './random.ts'
