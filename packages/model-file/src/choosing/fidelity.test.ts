import { expect, test } from 'vitest'
import { findFidelity } from '../choices.ts'

test.each([
  ['F32', 'Original'],
  ['BF16', 'Original'],
  ['F16', 'Original'],
  ['Q8_0', 'Near-lossless'],
  ['Q8_K', 'Near-lossless'],
  ['Q6_K', 'Excellent'],
  ['Q5_K_M', 'Very good'],
  ['Q5_1', 'Very good'],
  ['Q4_K_M', 'Balanced'],
  ['q4_0', 'Balanced'],
  ['IQ4_XS', 'Balanced'],
  ['MXFP4_MOE', 'Balanced'],
  ['NVFP4', 'Balanced'],
  ['Q3_K_L', 'Noticeable loss'],
  ['IQ3_XXS', 'Noticeable loss'],
  ['Q2_K', 'Rough'],
  ['IQ1_S', 'Rough'],
  ['TQ2_0', 'Rough'],
  ['unknown', undefined],
  ['Q16_0', undefined],
  ['I8', undefined],
  ['', undefined],
  [null, undefined],
])('the fidelity of %s is %s', (quantization, word) => {
  expect(findFidelity(quantization)).toBe(word)
})
