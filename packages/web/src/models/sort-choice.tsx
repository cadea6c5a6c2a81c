import { Link } from '@tanstack/react-router'
import { exactly } from '../ui/exactly.ts'
import { type ModelsSearch, sorts } from './models-search.ts'

/** Links, so that it works without scripts. */
export function SortChoice({
  search: { page: _, sort = 'downloads', ...others },
}: {
  search: ModelsSearch
}) {
  return (
    <nav aria-label="Sort by" className="flex rounded-ctl bg-sunken p-1">
      {sorts.map(({ value, label }) => (
        <Link
          key={value}
          to="."
          search={{ ...others, ...(value !== 'downloads' && { sort: value }) }}
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
