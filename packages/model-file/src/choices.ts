/** What somebody chooses between. An entrance of its own, which loads nothing: for browsers, and for a command line that starts at once. */
export { type Fidelity, findFidelity } from './fidelity.ts'
export {
  ambiguousChoice,
  defaultChoice,
  type FileChoice,
  type FileLike,
  fileChoices,
  findChoices,
  missingParts,
  runnable,
} from './file-choices.ts'
export { findBestFit, memoryForModels, memoryNeeded, memoryOfMachine } from './fit.ts'
export { getStem } from './shards.ts'
