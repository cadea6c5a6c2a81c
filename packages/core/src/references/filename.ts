/** A name that is safe on every file system and ends in `.gguf`: the source of a regular expression, for schemas. */
export const filenamePattern = '^[A-Za-z0-9][A-Za-z0-9._+() -]{0,240}\\.gguf$'

const filename = new RegExp(filenamePattern)

/** Whether a model's file may be called so: the registry takes no others, and a strange registry could send anything. */
export const isModelFilename = (text: string): boolean => filename.test(text)
