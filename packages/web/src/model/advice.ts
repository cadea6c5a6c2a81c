import { type Choice, isRough } from './choices.ts'

export function adviceFor(best: Choice | undefined, memoryGb: number): string {
  if (!best) return `No file of this model fits in ${memoryGb} GB.`
  if (!isRough(best)) return ''
  return `Only files with 1 or 2 bits per weight fit in ${memoryGb} GB. Expect low-quality answers; a smaller 4-bit model is usually better.`
}
