import { pageFiles } from '@shoal/protocol/pages'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { listQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Failure } from '../ui/problem.tsx'
import { ChosenFilters } from './chosen-filters.tsx'
import { filterFrom } from './criteria.ts'
import { Filters } from './filters.tsx'
import { Masthead } from './masthead.tsx'
import { ModelRow, ModelRowSkeleton } from './model-row.tsx'
import { hasFilter, type ModelsSearch, pageSize } from './models-search.ts'
import { EmptyRegistry, NothingFound } from './no-models.tsx'
import { BeyondEnd, isBeyondEnd, Pages } from './pages.tsx'
import { SortChoice } from './sort-choice.tsx'

export { loadModels } from './load-models.ts'

const route = getRouteApi('/')

export function ModelsScreen() {
  const search = route.useSearch()
  const list = useQuery({
    ...listQuery(useClient(), filterFrom(search)),
    placeholderData: keepPreviousData,
  })
  const { page = 1 } = search
  const isBare = !hasFilter(search) && page === 1
  const total = list.data?.total ?? 0
  const pages = {
    page,
    pages: Math.ceil(total / pageSize),
    hasMore: list.data?.isTotalExact === false,
  }

  return (
    <>
      <PageHead {...makeHead(search)} />
      {isBare && <Masthead />}
      <div className="page grid gap-x-12 gap-y-6 pt-8 lg:grid-cols-[208px_1fr]">
        <Filters search={search} />
        <section
          id="models"
          tabIndex={-1}
          aria-labelledby="list-title"
          className="min-w-0 outline-none"
        >
          <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
            <ListTitle
              isBare={isBare}
              text={formatTitle(search, list.isPlaceholderData ? undefined : list.data)}
            />
            <SortChoice search={search} />
          </div>
          <ChosenFilters search={search} />
          {list.isError ? (
            <Failure as="h2" error={list.error} onRetry={() => list.refetch()} />
          ) : list.isPending ? (
            <ModelRowSkeleton count={8} />
          ) : total > 0 && isBeyondEnd(pages) ? (
            <BeyondEnd {...pages} search={search} />
          ) : total > 0 ? (
            <ul className={list.isPlaceholderData ? 'opacity-60 transition-opacity' : ''}>
              {list.data.models.map((model) => (
                <ModelRow
                  key={model.id}
                  model={model}
                  heading={isBare ? 'h3' : 'h2'}
                  showsOwner
                  contextTokens={search.context}
                />
              ))}
            </ul>
          ) : hasFilter(search) ? (
            <NothingFound />
          ) : (
            <EmptyRegistry />
          )}
          <Pages {...pages} search={search} />
        </section>
      </div>
    </>
  )
}

/** The list's title. It is an h2 if the page has the masthead, which contains the h1. Otherwise, it is the h1. */
function ListTitle({ isBare, text }: { isBare: boolean; text: string }) {
  const title = (
    <span aria-live="polite" id="list-title">
      {text}
    </span>
  )
  const look = 'text-[22px] font-semibold'
  if (isBare) return <h2 className={look}>{title}</h2>
  return <ScreenTitle className={look}>{title}</ScreenTitle>
}

type Found = { total: number; isTotalExact: boolean }

function formatTitle({ q }: ModelsSearch, found: Found | undefined): string {
  const count = found
    ? `${found.total.toLocaleString('en')}${found.isTotalExact ? '' : '+'} ${found.total === 1 ? 'model' : 'models'}`
    : 'Models'
  return q ? `${count} for “${q}”` : count
}

function makeHead(search: ModelsSearch) {
  const { q, architecture, license, tag } = search
  const subject = [q && `“${q}”`, architecture, ...(tag ?? []), license].filter(Boolean).join(', ')
  const query = new URLSearchParams(q ? { q } : {})
  return {
    title: subject ? `Models: ${subject}` : 'shoal',
    description: 'Language models in GGUF format to pull, run and share.',
    path: q ? `/?${query}` : '/',
    isHidden: hasFilter(search),
    feed: q ? `${pageFiles.feed}?${query}` : pageFiles.feed,
  }
}
