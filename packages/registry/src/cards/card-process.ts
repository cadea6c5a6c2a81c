/** Renders cards in a separate process, started by `start-card-process.ts`. A hostile card may crash this process. */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { renderCard } from './render-card.ts'
import type { CardOptions } from './shape-card.ts'

export type CardQuestion = { markdown: string; options: CardOptions }
export type CardMethods = typeof methods

const methods = {
  render: ({ markdown, options }: CardQuestion) => renderCard(markdown, options),
}
openRpc(parentProcessPort(process, { ignoresInterrupt: true }), methods)
