import type { Facets } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { facetsQuery } from '../api/queries.ts'
import { changePrefs, memorySizes } from '../prefs.ts'
import { exactly } from '../ui/exactly.ts'
import type { ModelsSearch } from './models-search.ts'

type Props = { search: ModelsSearch }

const facets = [
  { name: 'architecture', title: 'Architecture', of: (all: Facets) => all.architectures },
  { name: 'license', title: 'License', of: (all: Facets) => all.licenses },
  { name: 'tag', title: 'Tags', of: (all: Facets) => all.tags },
] as const

const maxShown = 14

export function Filters({ search }: Props) {
  const { data } = useQuery(facetsQuery(useClient()))
  return (
    <aside
      aria-label="Filters"
      className="grid grid-cols-2 gap-3 sm:grid-cols-4 lg:block lg:space-y-7"
    >
      <FitsInMemory search={search} />
      {facets.map(({ name, title, of }) => (
        <Facet
          key={name}
          name={name}
          title={title}
          values={(data ? of(data) : []).slice(0, maxShown).map(({ value }) => value)}
          search={search}
        />
      ))}
    </aside>
  )
}

function FitsInMemory({ search: { page: _, fits, ...others } }: Props) {
  const navigate = useNavigate()

  function choose(text: string) {
    if (text) changePrefs({ memoryGb: Number(text) })
    navigate({ to: '.', search: { ...others, ...(text && { fits: Number(text) }) } })
  }

  return (
    <label className="grid gap-2 font-semibold text-[14px]">
      Fits in memory
      <select
        className="ctl w-full font-normal"
        value={fits ?? ''}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">Any size</option>
        {memorySizes.map((size) => (
          <option key={size} value={size}>
            {size} GB
          </option>
        ))}
      </select>
    </label>
  )
}

type FacetProps = Props & {
  name: (typeof facets)[number]['name']
  title: string
  values: readonly string[]
}

/** A filter, shown as a list of links on wide screens and as a select element on narrow screens. */
function Facet({ name, title, values, search: { page: _, ...search } }: FacetProps) {
  const navigate = useNavigate()
  const chosen = search[name]
  const searchFor = (value: string | undefined): ModelsSearch => {
    const { [name]: __, ...others } = search
    return { ...others, ...(value !== undefined && { [name]: value }) }
  }
  const known = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values]
  if (known.length === 0) return null
  return (
    <>
      <label className="grid gap-2 font-semibold text-[14px] lg:hidden">
        {title}
        <select
          className="ctl w-full font-normal"
          value={chosen ?? ''}
          onChange={({ target }) =>
            navigate({ to: '.', search: searchFor(target.value || undefined) })
          }
        >
          <option value="">All</option>
          {known.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      </label>
      <nav aria-label={title} className="hidden lg:block">
        <h2 className="mb-2 font-sans font-semibold text-[14px] tracking-normal">{title}</h2>
        <ul>
          {[undefined, ...known].map((value) => (
            <li key={value ?? ''}>
              <Link
                to="."
                search={searchFor(value)}
                resetScroll={false}
                activeOptions={exactly}
                aria-current={chosen === value ? 'true' : undefined}
                className={`-ml-2.5 block truncate rounded-md px-2.5 py-1 text-ink-2 hover:bg-sunken aria-[current]:bg-sea-soft aria-[current]:font-medium aria-[current]:text-ink ${value === undefined ? 'text-[15px]' : 'font-mono text-[13.5px] leading-6'}`}
              >
                {value ?? 'All'}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}
