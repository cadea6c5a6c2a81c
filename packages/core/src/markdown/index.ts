/** Limits on Markdown to parse: model cards in the registry, responses in the chat. */
export { isTooNested } from './nesting.ts'
