/**
 * What model cards in the registry and responses in the chat have in common: limits on the Markdown, heading levels, and
 * formulas.
 */
export { pageHeadingLevels } from './heading-levels.ts'
export { type DisplayMath, type InlineMath, mathFromMarkdown, mathSyntax } from './math-syntax.ts'
export { isTooNested } from './nesting.ts'
