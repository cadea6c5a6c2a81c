/** Names of models and their files. */
export { formatModelArgument, registryOption } from './commands.ts'
export { filenamePattern, isModelFilename } from './filename.ts'
export { formatRunLink, formatRunTarget, type RunTarget } from './format-run-link.ts'
export { hostOf, isFromHost } from './host.ts'
export { isModelName, modelNamePattern, suggestModelName } from './model-name.ts'
export { isLabel, parseReference, type Reference, shellWord } from './reference.ts'
export { defaultRegistry, findRegistryLabel } from './registry.ts'
export { decodeRunTarget, findRunText, parseRunTarget } from './run-link.ts'
