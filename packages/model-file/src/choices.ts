/**
 * Functions for choosing among a model's files. This entry point loads no Node modules and little other code, so that
 * it works in browsers and does not slow down the CLI's startup.
 */
export { memoryWithContext, usualCacheBytesPerToken } from './choosing/context-memory.ts'
export { type Fidelity, findFidelity } from './choosing/fidelity.ts'
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
} from './choosing/file-choices.ts'
export { findBestFit, memoryForModels, memoryNeeded, memoryOfMachine } from './choosing/fit.ts'
export { usualContext } from './choosing/memory.ts'
export { splitAtQuantizations } from './gguf/quantization.ts'
export { isOtherRole, otherRoles } from './gguf/roles.ts'
export { getStem } from './gguf/shards.ts'
