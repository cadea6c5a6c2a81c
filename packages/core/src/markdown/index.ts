/** Limits on the Markdown that is parsed: model cards in the registry, and responses in the chat. */
export { isTooNested } from './nesting.ts'
