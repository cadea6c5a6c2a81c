import type { ModelRecord } from '@shoal/protocol/client'
import { formatPath, pages } from '@shoal/protocol/pages'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { cardQuery } from '../api/queries.ts'
import { CardSkeleton, CardText } from '../card/card-text.tsx'
import { Failure } from '../ui/problem.tsx'
import { OwnersLink } from './owners-link.tsx'

const route = getRouteApi('/m/$name')

/** Keeps the footer below the visible area, so that nothing visible moves when the card replaces its placeholder. */
const cardSpace = 'min-h-[80vh]'

/** The model card, rendered and sanitized by the registry. External images are loaded only on request. */
export function CardTab({ model }: { model: ModelRecord }) {
  const { images = false } = route.useSearch()
  const card = useQuery(cardQuery(useClient(), model.name, images))
  if (card.isError) return <Failure as="h2" error={card.error} onRetry={() => card.refetch()} />
  if (card.isPending) {
    return (
      <div className={cardSpace}>
        <CardSkeleton />
      </div>
    )
  }
  if (card.data === '') {
    return (
      <p className="py-12 text-ink-2">
        This model has no card yet.
        <OwnersLink model={model}>Write one</OwnersLink>
      </p>
    )
  }
  return (
    <div className={cardSpace}>
      <h2 className="sr-only">Model card</h2>
      {card.data.includes('<span class="card-image" data-src="') && (
        <ImagesNote name={model.name} />
      )}
      <CardText html={card.data} />
    </div>
  )
}

/**
 * Offers a link that reloads the page with images, because the content security policy of a loaded page cannot be
 * changed.
 */
function ImagesNote({ name }: { name: string }) {
  return (
    <p className="mt-6 flex flex-wrap items-center gap-x-4 gap-y-1 rounded-ctl bg-sunken px-4 py-2.5 text-[14px] text-ink-2">
      External images are not loaded, because the sites that host them would see your IP address.
      <a href={`${formatPath(pages.model, { name })}?images=1`} className="link">
        Show external images
      </a>
    </p>
  )
}
