/** What may be parsed as Markdown: cards in the registry, answers in the chat. */
export { isTooNested } from './nesting.ts'
