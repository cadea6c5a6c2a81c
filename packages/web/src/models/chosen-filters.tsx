import { formatContext, formatCount } from '@shoal/core/units'
import { Link } from '@tanstack/react-router'
import { usualContextTokens } from '../prefs.ts'
import { chosenValues, facets, toggleValue } from './facets.ts'
import { hasFilter, type ModelsSearch } from './models-search.ts'

/** The chosen filters. Each is a link that removes the filter. */
export function ChosenFilters({ search }: { search: ModelsSearch }) {
  if (!hasFilter(search)) return null
  return (
    <ul aria-label="Chosen filters" className="mb-3 flex flex-wrap items-center gap-2">
      {listChosen(search).map(({ text, without }) => (
        <li key={text} className="min-w-0">
          <Link
            to="/"
            search={without}
            resetScroll={false}
            className="tag max-w-full gap-1 hover:bg-sea-soft"
          >
            <span className="sr-only">Remove the filter </span>
            <span className="min-w-0 truncate" dir="auto">
              {text}
            </span>
            <span aria-hidden>×</span>
          </Link>
        </li>
      ))}
      <li>
        <Link to="/" className="link text-[14px]">
          Clear all
        </Link>
      </li>
    </ul>
  )
}

type Chosen = { text: string; without: ModelsSearch }

function listChosen(search: ModelsSearch): Chosen[] {
  const { q, fits, context = usualContextTokens, min, max } = search
  const one = (isSet: boolean, names: (keyof ModelsSearch)[], text: string): Chosen[] =>
    isSet ? [{ text, without: omit(search, [...names, 'page']) }] : []
  return [
    ...one(q !== undefined, ['q'], `“${q}”`),
    ...one(
      fits !== undefined,
      ['fits', 'context'],
      `fits in ${fits} GB, context ${formatContext(context)}`,
    ),
    ...one(min !== undefined, ['min'], `at least ${formatCount((min ?? 0) * 1e9)}`),
    ...one(max !== undefined, ['max'], `at most ${formatCount((max ?? 0) * 1e9)}`),
    ...facets.flatMap(({ name }) =>
      chosenValues(search, name).map((value) => ({
        text: value,
        without: toggleValue(search, name, value),
      })),
    ),
  ]
}

const omit = (search: ModelsSearch, names: readonly (keyof ModelsSearch)[]): ModelsSearch =>
  Object.fromEntries(Object.entries(search).filter(([name]) => !names.some((one) => one === name)))
