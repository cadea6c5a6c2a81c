import { editCalls } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { useCalls } from '../api/context.ts'
import { refetchBusyCard } from '../api/queries.ts'
import { Failure } from '../ui/problem.tsx'
import { CardSkeleton, CardText } from './card-text.tsx'

/** A preview of the card that is being written. */
export function CardPreview({ text, names }: { text: string; names: string[] }) {
  const { renderCard } = useCalls(editCalls)
  const card = useQuery({
    queryKey: ['card preview', text, names],
    queryFn: () => renderCard({ readme: text, names }),
    gcTime: 0,
    refetchInterval: refetchBusyCard,
  })
  if (card.isError) return <Failure as="h2" error={card.error} onRetry={() => card.refetch()} />
  if (card.data === undefined) return <CardSkeleton />
  if (card.data === '')
    return <p className="pt-6 text-[15px] text-ink-3">Nothing to preview yet.</p>
  return <CardText html={card.data} />
}
