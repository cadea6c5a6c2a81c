/** The usual files of a model: their quantizations, sizes and tensor types. */
import type { Random } from '../../harness/random.ts'

export type Quantization = {
  label: string
  /** The value of `general.file_type`. */
  fileType: number
  bitsPerWeight: number
  /**
   * Most weights have the first type. The remaining weights have the second type, so that the file has the right size.
   */
  types: [most: TensorType, rest: TensorType]
}

export type TensorType = keyof typeof bitsByType

export const bitsByType = {
  F32: 32,
  F16: 16,
  Q8_0: 8.5,
  Q6_K: 6.5625,
  Q5_K: 5.5,
  Q4_K: 4.5,
  IQ4_XS: 4.25,
  Q3_K: 3.4375,
  IQ3_S: 3.4375,
  IQ3_XXS: 3.0625,
  Q2_K: 2.625,
  IQ2_S: 2.5625,
  IQ2_XXS: 2.0625,
}

const all = {
  IQ2_XXS: { fileType: 19, bitsPerWeight: 2.38, types: ['IQ2_XXS', 'Q5_K'] },
  IQ2_M: { fileType: 29, bitsPerWeight: 2.93, types: ['IQ2_S', 'Q5_K'] },
  Q2_K: { fileType: 10, bitsPerWeight: 3.16, types: ['Q2_K', 'Q6_K'] },
  IQ3_XXS: { fileType: 23, bitsPerWeight: 3.25, types: ['IQ3_XXS', 'Q5_K'] },
  IQ3_M: { fileType: 27, bitsPerWeight: 3.76, types: ['IQ3_S', 'Q5_K'] },
  Q3_K_M: { fileType: 12, bitsPerWeight: 4.0, types: ['Q3_K', 'Q5_K'] },
  IQ4_XS: { fileType: 30, bitsPerWeight: 4.43, types: ['IQ4_XS', 'Q6_K'] },
  Q4_K_S: { fileType: 14, bitsPerWeight: 4.67, types: ['Q4_K', 'Q6_K'] },
  Q4_K_M: { fileType: 15, bitsPerWeight: 4.89, types: ['Q4_K', 'Q6_K'] },
  Q5_K_M: { fileType: 17, bitsPerWeight: 5.7, types: ['Q5_K', 'Q6_K'] },
  Q6_K: { fileType: 18, bitsPerWeight: 6.57, types: ['Q6_K', 'Q8_0'] },
  Q8_0: { fileType: 7, bitsPerWeight: 8.51, types: ['Q8_0', 'F32'] },
  F16: { fileType: 1, bitsPerWeight: 16.01, types: ['F16', 'F32'] },
} satisfies Record<string, Omit<Quantization, 'label'>>

type Label = keyof typeof all

const tiny: Label[] = ['Q4_K_M', 'Q5_K_M', 'Q6_K', 'Q8_0', 'F16']
const usual: Label[] = ['Q2_K', 'Q3_K_M', 'IQ4_XS', 'Q4_K_S', ...tiny]
const large: Label[] = ['IQ2_XXS', 'Q2_K', 'IQ3_XXS', 'Q3_K_M', 'IQ4_XS', 'Q4_K_M', 'Q6_K', 'Q8_0']
const whole: Label[] = ['IQ2_M', 'Q2_K', 'IQ3_M', 'Q3_K_M', ...tiny]
/** The quantizations that every model has. */
const expected: Label[] = ['Q4_K_M', 'Q6_K', 'Q8_0']

const quantization = (label: Label): Quantization => ({ label, ...all[label] })

/** Returns all quantizations, from the smallest to the unquantized original. */
export const wholeLadder = (): Quantization[] => whole.map(quantization)

/** Returns at least five quantizations. Omits others at random, because most real models do not have all of them. */
export function ladderFor(parameters: number, random: Random): Quantization[] {
  const labels = parameters < 1e9 ? tiny : parameters < 40e9 ? usual : large
  const kept = labels.filter((label) => expected.includes(label) || random.chance(0.75))
  return (kept.length < 5 ? labels : kept).map(quantization)
}
