import type { ModelRecord, User } from '@shoal/protocol/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Failure } from '../../ui/problem.tsx'
import { MemberRow } from './member-row.tsx'
import { NewMemberForm } from './new-member-form.tsx'
import { useMembers } from './use-members.ts'

type Props = {
  model: ModelRecord
  user: User
  /** Whether the visitor can add, change and remove members. Other members can only see the list, and leave. */
  isManager: boolean
}

/** The accounts with which a model is shared. */
export function MembersSection({ model, user, isManager }: Props) {
  const list = useMembers(model)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const title = useRef<HTMLHeadingElement>(null)
  const [report, setReport] = useState('')

  async function noteRemoval(username: string) {
    if (username !== user.username) {
      setReport(`${username} is no longer a member.`)
      title.current?.focus() // because the button that had the focus disappears
      return
    }
    await navigate({ to: '/', ignoreBlocker: true })
    await queryClient.resetQueries()
  }

  return (
    <section aria-labelledby="members-title">
      <h2 ref={title} id="members-title" tabIndex={-1} className="font-semibold text-[22px]">
        Members
      </h2>
      <p className="mt-2 text-[15px] text-ink-2">
        Members can see and pull the model even if it is private. Members with write access can also
        change the model, add files and delete the model.
        {!isManager && ` Only ${model.owner} and administrators can add or remove members.`}
      </p>
      {isManager && (
        <NewMemberForm
          model={model}
          onAdded={({ username, right }) => setReport(`${username} can now ${right}.`)}
        />
      )}
      <p role="status" className="mt-4 text-[15px] text-ok empty:hidden">
        {report}
      </p>
      <div className="mt-4">
        {list.isError && <Failure as="h2" error={list.error} onRetry={() => list.refetch()} />}
        {list.isPending && <div className="skeleton h-24" aria-busy="true" />}
        {list.data?.length === 0 && (
          <p className="text-ink-3">The model is not shared with anyone.</p>
        )}
        <ul aria-label="Members">
          {list.data?.map((member) => (
            <MemberRow
              key={member.username}
              model={model}
              member={member}
              isManager={isManager}
              isSelf={member.username === user.username}
              onDone={setReport}
              onRemoved={({ username }) => noteRemoval(username)}
            />
          ))}
        </ul>
      </div>
    </section>
  )
}
