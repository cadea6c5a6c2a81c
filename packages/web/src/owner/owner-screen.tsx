import { plural } from '@shoal/core/units'
import { ApiError } from '@shoal/protocol/client'
import { formatPath, pageFiles, pages } from '@shoal/protocol/pages'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { listQuery, ownerQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { filterFrom } from '../models/criteria.ts'
import { ModelRow, ModelRowSkeleton } from '../models/model-row.tsx'
import { pageSize } from '../models/models-search.ts'
import { BeyondEnd, isBeyondEnd, Pages } from '../models/pages.tsx'
import { SortChoice } from '../models/sort-choice.tsx'
import { Failure, Problem } from '../ui/problem.tsx'

const route = getRouteApi('/u/$username')
const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

export function OwnerScreen() {
  const { username } = route.useParams()
  const search = route.useSearch()
  const client = useClient()
  const owner = useQuery(ownerQuery(client, username))
  const list = useQuery({
    ...listQuery(client, { ...filterFrom(search), owner: username }),
    placeholderData: keepPreviousData,
  })
  if (owner.isError)
    return <NoOwner username={username} error={owner.error} onRetry={() => owner.refetch()} />
  const total = list.data?.total ?? 0
  const range = {
    page: search.page ?? 1,
    pages: Math.ceil(total / pageSize),
    hasMore: list.data?.isTotalExact === false,
  }
  const isNone = list.isSuccess && total === 0
  return (
    <div className="page pt-10">
      <PageHead
        title={username}
        description={`Models published by ${username}.`}
        path={formatPath(pages.owner, { username })}
        feed={formatPath(pageFiles.ownerFeed, { username })}
      />
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">{username}</ScreenTitle>
      <p className="mt-1 min-h-6 text-ink-2">
        {owner.data &&
          `${plural(owner.data.models_count, 'model')} · joined ${month.format(new Date(owner.data.created_at))}`}
      </p>
      <div className="mt-8 mb-2 flex flex-wrap items-center justify-between gap-3">
        <h2 className="font-semibold text-[22px]">Models</h2>
        <SortChoice search={search} />
      </div>
      {list.isError && <Failure as="h2" error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <ModelRowSkeleton count={4} />}
      {isNone && <p className="border-line border-t py-16 text-ink-2">Nothing published yet.</p>}
      <ul className={list.isPlaceholderData ? 'opacity-60' : ''}>
        {list.data?.models.map((model) => (
          <ModelRow key={model.id} model={model} heading="h3" />
        ))}
      </ul>
      {total > 0 && isBeyondEnd(range) && <BeyondEnd {...range} search={search} />}
      <Pages {...range} search={search} />
    </div>
  )
}

type NoOwnerProps = { username: string; error: Error; onRetry: () => void }

function NoOwner({ username, error, onRetry }: NoOwnerProps) {
  return (
    <div className="page py-16">
      <PageHead title={username} isHidden />
      {error instanceof ApiError && error.problem.code === 'user_unknown' ? (
        <Problem title="User not found">“{username}” has no account on this registry.</Problem>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </div>
  )
}
