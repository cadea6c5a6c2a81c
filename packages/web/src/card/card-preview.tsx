import type { UseMutationResult } from '@tanstack/react-query'
import { Failure } from '../ui/problem.tsx'
import { CardSkeleton, CardText } from './card-text.tsx'

/** Preview of the card being written. */
export function CardPreview({ card }: { card: UseMutationResult<string, Error, void> }) {
  if (card.isError) return <Failure as="h2" error={card.error} onRetry={card.mutate} />
  if (card.data === undefined) return <CardSkeleton />
  if (card.data === '')
    return <p className="pt-6 text-[15px] text-ink-3">Nothing to preview yet.</p>
  return <CardText html={card.data} />
}
