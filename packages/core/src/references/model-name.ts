/** 2 to 96 characters of `a-z 0-9 . _ -` between letters or digits: the source of a regular expression, for schemas. */
export const modelNamePattern = '^[a-z0-9][a-z0-9._-]{0,94}[a-z0-9]$'

const modelName = new RegExp(modelNamePattern)

export const isModelName = (text: string): boolean => modelName.test(text)

/** The name that a file suggests for its model: the stem of its filename without the quantization. Not always one that can be had. */
export function suggestModelName(file: { stem: string; quantization: string }): string {
  const stem = file.stem.toLowerCase()
  const label = file.quantization.toLowerCase()
  const bare = stem.endsWith(label) ? stem.slice(0, -label.length) : stem
  return bare.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
