import { Link } from '@tanstack/react-router'
import type { ModelsSearch } from './models-search.ts'

/** `hasMore` means that there are more than `pages` pages, but their number is unknown. */
type Props = { page: number; pages: number; hasMore: boolean; search: ModelsSearch }

export function Pages({ page, pages, hasMore, search }: Props) {
  if (pages <= 1) return null
  return (
    <nav aria-label="Pages" className="flex items-center justify-between border-line border-t pt-5">
      <Turn to={page - 1} isThere={page > 1} search={search} text="Previous" />
      <span className="text-[15px] text-ink-2 tabular-nums">
        Page {page} of {pages}
        {hasMore && '+'}
      </span>
      <Turn to={page + 1} isThere={page < pages} search={search} text="Next" />
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
