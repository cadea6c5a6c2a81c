import { formatAge } from '@shoal/core/units'
import { credentialCalls, type Session } from '@shoal/protocol/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCalls } from '../api/context.ts'
import { sessionsQuery } from '../api/queries.ts'
import { explain } from '../ui/explain.ts'
import { Failure } from '../ui/problem.tsx'
import { agentName } from './agent-name.ts'

export function SessionsSection() {
  const sessions = useQuery(sessionsQuery(useCalls(credentialCalls)))
  if (sessions.isError) {
    return <Failure as="h2" error={sessions.error} onRetry={() => sessions.refetch()} />
  }
  return (
    <>
      <p className="mb-5 text-[15px] text-ink-2">
        The browsers and programs in which you are signed in. A session expires after 30 days.
      </p>
      {sessions.isPending && <div className="skeleton h-24" aria-busy="true" />}
      <ul>
        {sessions.data?.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </>
  )
}

function SessionRow({ session }: { session: Session }) {
  const client = useCalls(credentialCalls)
  const queryClient = useQueryClient()
  const end = useMutation({
    mutationFn: () => client.deleteSession(session.id),
    onSettled: () => queryClient.invalidateQueries(sessionsQuery(client)),
  })
  const name = agentName(session.user_agent)
  return (
    <li className="flex flex-wrap items-center gap-4 border-line border-t py-3.5 text-[15px] sm:gap-6">
      <div className="min-w-0 flex-1">
        <p className="break-words font-medium">{name}</p>
        <p className="text-[14px] text-ink-3">
          signed in {formatAge(session.created_at)}
          {session.last_used_at && ` · used ${formatAge(session.last_used_at)}`}
        </p>
      </div>
      {session.current ? (
        <p className="tag">this session</p>
      ) : (
        <button
          type="button"
          className="ctl h-9"
          disabled={end.isPending}
          onClick={() => end.mutate()}
        >
          End<span className="sr-only"> the session of {name}</span>
        </button>
      )}
      <p role="alert" className="w-full text-[14px] text-roe-ink empty:hidden">
        {end.error && explain(end.error)}
      </p>
    </li>
  )
}
