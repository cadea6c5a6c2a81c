/**
 * The file choices of a model. A separate entry point that loads nothing else, for browsers and for a command line that starts
 * quickly.
 */
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
