/**
 * The source of a regular expression for schemas. A model name has 2 to 96 characters: lowercase letters, digits, `.`,
 * `_` or `-`. The first and last characters are letters or digits.
 */
export const modelNamePattern = '^[a-z0-9][a-z0-9._-]{0,94}[a-z0-9]$'

const modelName = new RegExp(modelNamePattern)

export const isModelName = (text: string): boolean => modelName.test(text)

/**
 * Suggests a model name for a file: the filename without its extension and the quantization. The suggestion is not
 * always a valid name.
 */
export function suggestModelName(file: { stem: string; quantization: string }): string {
  const stem = file.stem.toLowerCase()
  const label = file.quantization.toLowerCase()
  const bare = stem.endsWith(label) ? stem.slice(0, -label.length) : stem
  return bare.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
