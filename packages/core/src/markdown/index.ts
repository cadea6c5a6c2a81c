/** Rules for the Markdown of model cards in the registry and of answers in the chat: limits, and heading levels. */
export { pageHeadingLevels } from './heading-levels.ts'
export { isTooNested } from './nesting.ts'
