/** Finds the quantization in the filename of a GGUF file. */

const separator = '[-._ ]'
const label = [
  'IQ[1-4]_(?:XXS|XS|NL|S|M)',
  'Q4_0_[48]_[48]',
  'Q[1-8]_(?:[01]|K(?:_(?:XXS|XS|S|M|L|XL))?)',
  'TQ[12]_0',
  'MXFP4(?:_MOE)?',
  'NVFP4',
  'B?F16',
  'F(?:32|64)',
  'FP(?:16|32)',
].join('|')
const labels = new RegExp(`(?<=^|${separator})(?:${label})(?=$|${separator})`, 'gi')

const inNames = new RegExp(`(?<![a-z0-9])(${label})(?![a-z0-9])`, 'gi')

/** Splits a name at the quantizations in it, so that pages can keep each of them on one line. Every second part is one. */
export const splitAtQuantizations = (name: string): string[] => name.split(inNames)

/** Returns the last quantization label in a filename, such as `Q4_K_M` for `llama-3-8b.q4_k_m.gguf`. */
export function findQuantizationInFilename(filename: string): string | undefined {
  return filename.match(labels)?.at(-1)?.toUpperCase().replace('FP16', 'F16').replace('FP32', 'F32')
}
