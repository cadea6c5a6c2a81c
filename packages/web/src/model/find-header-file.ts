import type { ModelFile } from '@shoal/protocol/client'

/** Projectors, and the parts of split files that have no header of the model. */
const hasNoHeader = /(^|[-._ ])mmproj($|[-._ ])|-(?!00001)\d{5}-of-\d{5}\.gguf$/i

/** Returns a file whose header describes the model. All quantizations of a model have the same dimensions. */
export const findHeaderFile = (files: readonly ModelFile[]): ModelFile | undefined =>
  files.find(({ filename }) => !hasNoHeader.test(filename))
