/** A regular expression source, for schemas: filenames that are safe on every file system and end in `.gguf`. */
export const filenamePattern = '^[A-Za-z0-9][A-Za-z0-9._+() -]{0,240}\\.gguf$'

const filename = new RegExp(filenamePattern)

/** Whether this is a valid filename for a model. The registry accepts no others; check names from unknown registries too. */
export const isModelFilename = (text: string): boolean => filename.test(text)
