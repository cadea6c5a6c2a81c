import type { LineLimits } from '../runtime.ts'

/**
 * Ends an answer at the limits of a request (`LineLimits`). `take` returns the text that is certainly part of the
 * answer: a line break and the indentation after it are held back until the line's first other character is known.
 */
export function lineLimits(
  { minIndent, maxMs }: LineLimits = { minIndent: 0, maxMs: 0 },
  now = () => performance.now(),
) {
  let startedAt: number | undefined
  let hasLines = false
  let isOver = false
  let held = ''

  return {
    isOver: () => isOver,

    take(text: string): string {
      startedAt ??= now()
      hasLines ||= text.includes('\n')
      if (maxMs > 0 && hasLines && now() - startedAt > maxMs) isOver = true
      if (minIndent === 0) return text
      const all = held + text
      const short = new RegExp(`\\n(?![ \\t]{${minIndent}})[ \\t]*(?=[^ \\t\\n])`).exec(all)
      if (short) isOver = true
      const end = short?.index ?? /\n[ \t]*$/.exec(all)?.index ?? all.length
      held = short ? '' : all.slice(end)
      return all.slice(0, end)
    },

    /** Returns the text that was held back. */
    finish: (): string => held,
  }
}
