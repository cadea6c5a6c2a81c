import { formatAge } from '@shoal/core/units'
import type { Member } from '@shoal/protocol'
import type { ModelRecord } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { explain } from '../../ui/explain.ts'
import { describeRight, RightChoice } from './right-choice.tsx'
import { useRemoveMember, useSetMember } from './use-members.ts'

type Props = {
  model: ModelRecord
  member: Member
  isManager: boolean
  /** Whether the member is the visitor. */
  isSelf: boolean
  /** Receives a sentence that describes the completed action. */
  onDone: (report: string) => void
  /** Called when the membership has ended and the row is about to disappear. */
  onRemoved: (member: Member) => unknown
}

export function MemberRow({ model, member, isManager, isSelf, ...on }: Props) {
  const { username, right, created_at } = member
  const dialog = useRef<HTMLDialogElement>(null)
  const change = useSetMember(model)
  const remove = useRemoveMember(model, username, () => {
    dialog.current?.close() // while the dialog is open, nothing outside it can have the focus
    return on.onRemoved(member)
  })
  const chosen = change.isPending ? change.variables.right : right
  const action = isSelf ? 'Leave' : 'Remove'
  return (
    <li className="border-line border-t py-3 text-[15px]">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 sm:gap-x-6">
        <div className="min-w-0 flex-1 basis-40">
          <p className="break-all font-medium">
            <Link to="/u/$username" params={{ username }} className="hover:text-roe-ink">
              {username}
            </Link>
            {isSelf && <span className="tag ml-2">you</span>}
          </p>
          <p className="text-[14px] text-ink-3">member since {formatAge(created_at)}</p>
        </div>
        {isManager ? (
          <RightChoice
            aria-label={`Right of ${username}`}
            value={chosen}
            disabled={change.isPending}
            onChoose={(wanted) =>
              change.mutate(
                { username, right: wanted },
                { onSuccess: () => on.onDone(`${username} can now ${wanted}.`) },
              )
            }
          />
        ) : (
          <p className="text-ink-2">{describeRight(right)}</p>
        )}
        {(isManager || isSelf) && (
          <button type="button" className="ctl" onClick={() => dialog.current?.showModal()}>
            {action}
            {!isSelf && <span className="sr-only"> {username}</span>}
          </button>
        )}
      </div>
      <p role="alert" className="mt-2 text-[14px] text-roe-ink empty:hidden">
        {change.error && explain(change.error)}
      </p>
      <ConfirmDialog
        dialog={dialog}
        title={isSelf ? `Leave ${model.display_name}?` : `Remove ${username}?`}
        action={isSelf ? 'Leave' : 'Remove member'}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      >
        {isSelf ? 'You' : username} can no longer change the model, or see it while it is private.
        If the model is private, links to its files stop working for everyone (direct links within
        24 hours, other links immediately), because a member may have shared them. Files that were
        already downloaded are not affected.
      </ConfirmDialog>
    </li>
  )
}
