/** Renders cards in a process of its own, started by `start-card-process.ts`. A hostile card may be the end of it. */
import { renderCard } from './render-card.ts'
import type { CardOptions } from './shape-card.ts'

export type CardQuestion = { markdown: string; options: CardOptions }
export type CardAnswer = { event: 'ready' } | { html: string } | { problem: string }

process.on('message', ({ markdown, options }: CardQuestion) => tell(answerTo(markdown, options)))
process.on('disconnect', () => process.exit(0))
// A terminal sends Ctrl-C to the whole group: the registry decides when this process ends.
process.on('SIGINT', () => undefined)
tell({ event: 'ready' })

function answerTo(markdown: string, options: CardOptions): CardAnswer {
  try {
    return { html: renderCard(markdown, options) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function tell(answer: CardAnswer) {
  process.send?.(answer)
}
