import { Link } from '@tanstack/react-router'
import { exactly } from '../ui/exactly.ts'
import { defaultSort, type ModelsSearch, sortsFor } from './models-search.ts'

/** The sort orders are links, so that sorting works without scripts. */
export function SortChoice({ search }: { search: ModelsSearch }) {
  const usual = defaultSort(search)
  const { page: _, sort = usual, ...others } = search
  return (
    <nav aria-label="Sort by" className="flex rounded-ctl bg-sunken p-1">
      {sortsFor(search).map(({ value, label }) => (
        <Link
          key={value}
          to="."
          search={{ ...others, ...(value !== usual && { sort: value }) }}
          resetScroll={false}
          aria-current={sort === value ? 'true' : undefined}
          activeOptions={exactly}
          className="grid h-8 place-items-center rounded-md px-3 font-medium text-[14px] text-ink-2 aria-[current]:bg-surface aria-[current]:text-ink aria-[current]:shadow-sm"
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
