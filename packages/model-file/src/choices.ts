/**
 * The choices among a model's files. This is a separate entry point that loads nothing else, so that it works in
 * browsers and does not slow down the start of the command line.
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
