/** Entry point of the thread in which the card process renders cards. */
import { serveParent } from '@shoal/threads/parent'
import { renderCard } from './render-card.ts'
import type { CardOptions } from './shape-card.ts'

export type CardQuestion = { markdown: string; options: CardOptions }

serveParent(() => ({
  render: ({ markdown, options }: CardQuestion) => renderCard(markdown, options),
}))
