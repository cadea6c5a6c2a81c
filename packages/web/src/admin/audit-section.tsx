import type { AuditEntry } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCalls } from '../api/context.ts'
import { AuditFilter } from './audit-filter.tsx'
import { actionPhrases, actions, formatDetail } from './audit-phrases.ts'
import { AdminFailure } from './calls/admin-failure.tsx'
import { auditQuery } from './calls/admin-queries.ts'

const route = getRouteApi('/admin/{-$section}')
const time = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

export function AuditSection() {
  const search = route.useSearch()
  const action = actions.find((name) => name === search.action)
  const { actor, subject } = search
  const filter = {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subject }),
  }
  const log = useInfiniteQuery(auditQuery(useCalls(adminCalls), filter))
  const entries = log.data?.pages.flat()
  const hasFilter = Object.keys(filter).length > 0
  return (
    <>
      <AuditFilter filter={filter} isBusy={log.isFetching} onReload={() => log.refetch()} />
      <p role="status" className="sr-only">
        {entries && `Entries shown: ${entries.length}`}
      </p>
      {log.isError && <AdminFailure error={log.error} onRetry={() => log.refetch()} />}
      {log.isPending && <div className="skeleton h-40" aria-busy="true" />}
      {entries?.length === 0 && (
        <p className="border-line border-t py-5 text-ink-3">
          {hasFilter ? 'No entries match the filter.' : 'No entries yet.'}
        </p>
      )}
      {entries && entries.length > 0 && (
        <ol aria-label="Entries, newest first">
          {entries.map((entry) => (
            <Entry key={entry.seq} entry={entry} />
          ))}
        </ol>
      )}
      {log.hasNextPage && (
        <button
          type="button"
          className="ctl mt-5"
          disabled={log.isFetching}
          onClick={() => log.fetchNextPage()}
        >
          {log.isFetchingNextPage ? 'Loading …' : 'Show older entries'}
        </button>
      )}
    </>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { at, action, actor, credential, address, subject, detail } = entry
  const facts = [credential, address ?? '', formatDetail(detail)].filter((fact) => fact !== '')
  return (
    <li className="justify-between gap-6 border-line border-t py-3 text-[15px] sm:flex">
      <div className="min-w-0">
        <p className="break-words">
          <strong className="font-semibold">{actor ?? 'A command on the registry’s host'}</strong>{' '}
          {/* A newer registry may log actions that this page does not know. */}
          {actionPhrases[action] ?? action} <strong className="font-semibold">{subject}</strong>
        </p>
        <p className="text-[14px] text-ink-3 break-words">{facts.join(' · ')}</p>
      </div>
      <time dateTime={at} className="shrink-0 text-[14px] text-ink-3 tabular-nums">
        {time.format(new Date(at))}
      </time>
    </li>
  )
}
