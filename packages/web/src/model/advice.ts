import { formatContext } from '@shoal/core/units'
import { type Choice, isRough } from './choices.ts'

type Situation = { memoryGb: number; contextTokens: number }

export function adviceFor(
  best: Choice | undefined,
  { memoryGb, contextTokens }: Situation,
): string {
  const machine = `${memoryGb} GB with a context of ${formatContext(contextTokens)} tokens`
  if (!best) return `No file of this model fits in ${machine}.`
  if (!isRough(best)) return ''
  return `Only files with 1 or 2 bits per weight fit in ${machine}. Expect low-quality answers; a smaller 4-bit model is usually better.`
}
