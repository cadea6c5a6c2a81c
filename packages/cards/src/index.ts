/** Renders model cards: Markdown to HTML without anything harmful, in a process that can be stopped. */
export { type CardRenderer, cardRenderer, type RenderedCard } from './card-renderer.ts'
export { plainCard } from './plain-card.ts'
