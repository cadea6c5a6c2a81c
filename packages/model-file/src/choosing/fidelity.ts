/** How close a quantization is to the original, as a label that helps users choose a file. */

export type Fidelity =
  | 'Original'
  | 'Near-lossless'
  | 'Excellent'
  | 'Very good'
  | 'Balanced'
  | 'Noticeable loss'
  | 'Rough'

const wordOfBits: Record<number, Fidelity> = {
  8: 'Near-lossless',
  6: 'Excellent',
  5: 'Very good',
  4: 'Balanced',
  3: 'Noticeable loss',
  2: 'Rough',
  1: 'Rough',
}

const original = /^(?:BF16|F16|F32|F64)$/i
/** The digit after the name of the scheme is the number of bits per weight: `Q4_K_M`, `IQ2_XXS`, `TQ1_0`, `MXFP4`. */
const reduced = /^(?:I?Q|TQ|MXFP|NVFP)(\d)(?!\d)/i

/** Returns the fidelity of a quantization, or undefined if its label is unknown. */
export function findFidelity(quantization: string | null): Fidelity | undefined {
  const label = quantization ?? ''
  return original.test(label) ? 'Original' : wordOfBits[Number(reduced.exec(label)?.[1])]
}
