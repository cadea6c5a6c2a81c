/** How many bits a weight has, as the name of a quantization says; undefined where it says nothing. */
export function bitsOf(quantization: string | null): number | undefined {
  const [, float, integer] = /^(?:B?F(\d+)|.*?Q(\d))/.exec(quantization ?? '') ?? []
  const bits = Number(float ?? integer)
  return Number.isFinite(bits) ? bits : undefined
}

const words: [bits: number, word: string][] = [
  [9, 'Original'],
  [8, 'Near-lossless'],
  [6, 'Excellent'],
  [5, 'Very good'],
  [4, 'Balanced'],
  [3, 'Noticeable loss'],
  [0, 'Rough'],
]

/** What is left of the original, in a word. */
export function fidelityOf(quantization: string | null): string {
  const bits = bitsOf(quantization)
  return bits === undefined ? '' : (words.find(([least]) => bits >= least)?.[1] ?? '')
}

/** Below this a smaller model at more bits is usually better. */
export const isRough = (quantization: string | null): boolean => (bitsOf(quantization) ?? 4) < 3
