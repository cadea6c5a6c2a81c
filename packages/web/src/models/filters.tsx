import { formatCount, formatMemory } from '@shoal/core/units'
import { memoryOfMachine } from '@shoal/model-file/choices'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import { useClient } from '../api/context.ts'
import { facetsQuery } from '../api/queries.ts'
import { ContextSelect } from '../app/context-choice.tsx'
import { usePrefs } from '../app/use-prefs.ts'
import { changePrefs, memorySizes, usualContextTokens } from '../prefs.ts'
import { exactly } from '../ui/exactly.ts'
import { criteriaFrom } from './criteria.ts'
import { chosenValues, countedWithin, type Facet, facets, toggleValue } from './facets.ts'
import { type ModelsSearch, parameterSizes } from './models-search.ts'

type Props = { search: ModelsSearch }

/** The number of a facet's values that are shown before the list is expanded. */
const fewValues = 6
/** The maximum number of a facet's values in the expanded list. */
const maxValues = 40

export function Filters({ search }: Props) {
  return (
    <aside
      aria-label="Filters"
      className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:block lg:space-y-7"
    >
      <a
        href="#models"
        className="focus:ctl sr-only focus:not-sr-only focus:col-span-full focus:mb-3 focus:flex"
      >
        Skip filters
      </a>
      <FitsInMemory search={search} />
      <ParameterRange search={search} />
      {facets.map((facet) => (
        <FacetValues key={facet.name} facet={facet} search={search} />
      ))}
    </aside>
  )
}

function FitsInMemory({ search }: Props) {
  const { page: _, fits, context = usualContextTokens, ...others } = search
  const navigate = useNavigate()
  const { contextTokens } = usePrefs()
  const note = useId()

  function choose(text: string) {
    if (text) changePrefs({ memoryGb: Number(text) })
    const chosen = text ? { ...others, fits: Number(text), context: contextTokens } : others
    navigate({ to: '.', search: chosen })
  }

  function chooseContext(tokens: number) {
    changePrefs({ contextTokens: tokens })
    navigate({
      to: '.',
      search: { ...others, ...(fits !== undefined && { fits }), context: tokens },
    })
  }

  return (
    <div>
      <label className="grid gap-2 font-semibold text-[14px]">
        Fits in memory
        <select
          className="ctl w-full font-normal"
          value={fits ?? ''}
          aria-describedby={fits === undefined ? undefined : note}
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
      {fits !== undefined && (
        <>
          <p className="mt-2">
            <ContextSelect label="with context" value={context} onChoose={chooseContext} />
          </p>
          <p id={note} className="mt-1.5 text-[13px] text-ink-3">
            {formatMemory(memoryOfMachine(fits))} for models and their context. The rest is left to
            other programs.
          </p>
        </>
      )}
    </div>
  )
}

const ends = [
  { name: 'min', label: 'Minimum', none: 'Min' },
  { name: 'max', label: 'Maximum', none: 'Max' },
] as const

function ParameterRange({ search: { page: _, ...search } }: Props) {
  const navigate = useNavigate()

  function choose(end: 'min' | 'max', text: string) {
    const { [end]: __, ...others } = search
    navigate({ to: '.', search: { ...others, ...(text && { [end]: Number(text) }) } })
  }

  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 font-semibold text-[14px]">Parameters</legend>
      <div className="grid grid-cols-2 gap-2">
        {ends.map(({ name, label, none }) => (
          <select
            key={name}
            aria-label={`${label} number of parameters`}
            className="ctl w-full min-w-0 px-2.5 font-normal"
            value={search[name] ?? ''}
            onChange={({ target }) => choose(name, target.value)}
          >
            <option value="">{none}</option>
            {parameterSizes
              .filter((size) => isWithin(size, name, search))
              .map((size) => (
                <option key={size} value={size}>
                  {formatCount(size * 1e9)}
                </option>
              ))}
          </select>
        ))}
      </div>
    </fieldset>
  )
}

/** Whether `size` can be chosen as this end of the range: the minimum must be less than the maximum. */
const isWithin = (size: number, end: 'min' | 'max', { min = 0, max = Infinity }: ModelsSearch) =>
  end === 'min' ? size < max : size > min

type Value = { value: string; count: number }

/** Returns the values to show: all chosen values, followed by the others, most frequent first. */
function useValues({ name, of }: Facet, search: ModelsSearch) {
  const criteria = criteriaFrom(countedWithin(search, name))
  const { data } = useQuery({
    ...facetsQuery(useClient(), criteria),
    placeholderData: keepPreviousData,
  })
  const counted = data ? of(data) : []
  const chosen = chosenValues(search, name)
  const countOf = (value: string) => counted.find((one) => one.value === value)?.count ?? 0
  const values: Value[] = [
    ...chosen.map((value) => ({ value, count: countOf(value) })),
    ...counted.filter(({ value }) => !chosen.includes(value)),
  ]
  return { chosen, values: values.slice(0, Math.max(maxValues, chosen.length)) }
}

type FacetProps = Props & { facet: Facet }

/** A filter, shown as a list of links on wide screens and as a select element on narrow screens. */
function FacetValues({ facet, search }: FacetProps) {
  const { name, title } = facet
  const navigate = useNavigate()
  const { chosen, values } = useValues(facet, search)
  if (values.length === 0) return null
  const isMultiple = name === 'tag'

  function choose(value: string) {
    const { page: _, [name]: __, ...others } = search
    const next = value === '' ? others : toggleValue(search, name, value)
    navigate({ to: '.', search: next })
  }

  const [few, more] = [values.slice(0, fewValues), values.slice(fewValues)]
  return (
    <>
      <label className="grid min-w-0 gap-2 font-semibold text-[14px] lg:hidden">
        {title}
        <select
          className="ctl w-full font-normal"
          value={isMultiple ? '' : (chosen[0] ?? '')}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{isMultiple && chosen.length > 0 ? 'Add a tag' : 'All'}</option>
          {values
            .filter(({ value }) => !isMultiple || !chosen.includes(value))
            .map(({ value, count }) => (
              <option key={value} value={value}>
                {value} ({formatCount(count)})
              </option>
            ))}
        </select>
      </label>
      <nav aria-label={title} className="hidden lg:block">
        <h2 className="mb-2 font-sans font-semibold text-[14px] tracking-normal">{title}</h2>
        <ValueLinks name={name} values={few} search={search} />
        {more.length > 0 && (
          <details>
            <summary className="mt-1 text-[14px] text-ink-3 hover:text-ink">
              {more.length} more
            </summary>
            <ValueLinks name={name} values={more} search={search} />
          </details>
        )}
      </nav>
    </>
  )
}

type LinksProps = Props & { name: Facet['name']; values: readonly Value[] }

function ValueLinks({ name, values, search }: LinksProps) {
  const chosen = chosenValues(search, name)
  return (
    <ul>
      {values.map(({ value, count }) => (
        <li key={value}>
          <Link
            to="."
            search={toggleValue(search, name, value)}
            resetScroll={false}
            activeOptions={exactly}
            aria-current={chosen.includes(value) ? 'true' : undefined}
            className="-mx-2.5 flex items-baseline gap-2 rounded-md px-2.5 py-1 text-ink-2 hover:bg-sunken aria-[current]:bg-sea-soft aria-[current]:font-medium aria-[current]:text-ink"
          >
            <span className="min-w-0 flex-1 truncate font-mono text-[13.5px] leading-6" dir="auto">
              {value}
            </span>
            <span className="text-[13px] text-ink-3 tabular-nums">{formatCount(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
