/**
 * The source of a regular expression for schemas: matches filenames that are safe on every file system and end in
 * `.gguf`.
 */
export const filenamePattern = '^[A-Za-z0-9][A-Za-z0-9._+() -]{0,240}\\.gguf$'

const filename = new RegExp(filenamePattern)

/**
 * Whether the text is a valid name for a model's file. Registries reject all other names, but clients must check the
 * names that a registry sends, because not every registry can be trusted.
 */
export const isModelFilename = (text: string): boolean => filename.test(text)
