import { unsupported } from '../errors.ts'
import type { Prompt, Runtime } from '../runtime/runtime.ts'

export const toGap = (before: string, after: string): Prompt => ({
  gap: { before, after, files: [], begun: '' },
})

/** Throws a `Fault` if the model cannot fill gaps. `param` is the name of the parameter that demands it. */
export function requireGaps({ facts }: Runtime, param: string) {
  if (facts.canFillGaps) return
  throw unsupported(param, 'is not supported by this model: it has no tokens to fill in the middle')
}
