import { Link } from '@tanstack/react-router'
import type { ModelsSearch } from './models-search.ts'

/** `hasMore` means that there are more than `pages` pages, but their number is unknown. */
type Props = { page: number; pages: number; hasMore: boolean; search: ModelsSearch }

/** Whether a page is known to be beyond the end of the list. */
export const isBeyondEnd = ({ page, pages, hasMore }: Omit<Props, 'search'>): boolean =>
  page > Math.max(1, pages) && !hasMore

/** Shown in place of a page that does not exist, for example because models have been deleted. */
export function BeyondEnd({ page, pages, search: { page: _, ...others } }: Omit<Props, 'hasMore'>) {
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">There is no page {page}</p>
      <p className="mt-2 text-ink-2">The list ends on page {pages}.</p>
      <Link to="." search={{ ...others, ...(pages > 1 && { page: pages }) }} className="ctl mt-5">
        Go to page {pages}
      </Link>
    </div>
  )
}

export function Pages({ page, pages, hasMore, search }: Props) {
  if (pages <= 1 || isBeyondEnd({ page, pages, hasMore })) return null
  return (
    <nav aria-label="Pages" className="flex items-center justify-between border-line border-t pt-5">
      <Turn to={page - 1} isThere={page > 1} search={search} text="Previous" />
      <span className="text-[15px] text-ink-2 tabular-nums">
        Page {page}
        {page <= pages && ` of ${pages}${hasMore ? '+' : ''}`}
      </span>
      <Turn to={page + 1} isThere={page < pages || hasMore} search={search} text="Next" />
    </nav>
  )
}

type TurnProps = { to: number; isThere: boolean; search: ModelsSearch; text: string }

function Turn({ to, isThere, search, text }: TurnProps) {
  if (!isThere) {
    return (
      <button type="button" className="ctl" disabled>
        {text}
      </button>
    )
  }
  const { page: _, ...others } = search
  return (
    <Link to="." search={{ ...others, ...(to > 1 && { page: to }) }} className="ctl">
      {text}
    </Link>
  )
}
