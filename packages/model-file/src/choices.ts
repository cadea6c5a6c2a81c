/**
 * Functions for choosing among a model's files. This entry point loads no Node modules and little other code, so that
 * it works in browsers and does not slow down the CLI's startup.
 */
export { memoryWithContext, usualCacheBytesPerToken } from './context-memory.ts'
export { type Fidelity, findFidelity } from './fidelity.ts'
export {
  ambiguousChoice,
  defaultChoice,
  type FileChoice,
  type FileLike,
  fileChoices,
  findChoices,
  missingFilenames,
  missingParts,
  runnable,
} from './file-choices.ts'
export { findBestFit, memoryForModels, memoryNeeded, memoryOfMachine } from './fit.ts'
export { usualContext } from './memory.ts'
export { getStem } from './shards.ts'
