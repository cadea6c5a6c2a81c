/**
 * Markdown rules shared by model cards in the registry and responses in the chat: limits, heading levels and formulas.
 */
export { pageHeadingLevels } from './heading-levels.ts'
export { type DisplayMath, type InlineMath, mathFromMarkdown, mathSyntax } from './math-syntax.ts'
export { isTooNested } from './nesting.ts'
