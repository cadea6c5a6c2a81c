/** What somebody chooses between. An entrance of its own: it loads nothing, for a command line that starts at once. */
export {
  AmbiguousChoiceError,
  type FileChoice,
  fileChoices,
  findChoice,
  runnable,
  stemOf,
} from './file-choices.ts'
export { findBestFit, largestFileFor, memoryNeeded } from './fit.ts'
