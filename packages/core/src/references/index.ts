/** Names of models and their files. */
export { formatModelArgument, registryOption } from './commands.ts'
export { filenamePattern, isModelFilename } from './filename.ts'
export { hostOf, isFromHost } from './host.ts'
export { isModelName, modelNamePattern, suggestModelName } from './model-name.ts'
export { isLabel, parseReference, type Reference, shellWord } from './reference.ts'
export { defaultRegistry, findRegistryLabel } from './registry.ts'
export {
  decodeRunTarget,
  findRegistryAddress,
  findRunText,
  formatRunLink,
  formatRunTarget,
  parseRunTarget,
  type RunTarget,
} from './run-link.ts'
