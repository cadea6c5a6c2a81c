import { formatAge } from '@shoal/core/units'
import type { CreatedInvitation, Invitation } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useCalls } from '../api/context.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { SecretPanel } from '../ui/secret-panel.tsx'
import { AdminFailure } from './calls/admin-failure.tsx'
import { invitationsQuery } from './calls/admin-queries.ts'
import { useAdminMutation } from './calls/use-admin-mutation.ts'
import { NewInvitationForm } from './new-invitation-form.tsx'

const time = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const formatTime = (text: string) => time.format(new Date(text))

export function InvitationsSection() {
  const invitations = useQuery(invitationsQuery(useCalls(adminCalls)))
  const [made, setMade] = useState<CreatedInvitation>()
  const [isMaking, setMaking] = useState(false)
  return (
    <div className="max-w-[680px]">
      <p className="mb-5 text-[15px] text-ink-2">
        An invitation is a link that lets one person register within seven days, even if
        registration is closed.
      </p>
      {made && (
        <div className="mb-6">
          <SecretPanel
            key={made.id}
            title={made.note ? `Invitation: ${made.note}` : 'Invitation'}
            text={`Copy the link now and send it to the person you are inviting. You won’t be able to see it again. It can be used once, until ${formatTime(made.expires_at)}.`}
            secret={made.url}
            label="Copy the link"
            onDone={() => setMade(undefined)}
          />
        </div>
      )}
      {isMaking ? (
        <NewInvitationForm
          onMade={(invitation) => {
            setMade(invitation)
            setMaking(false)
          }}
          onCancel={() => setMaking(false)}
        />
      ) : (
        <button type="button" className="ctl-ink mb-6" onClick={() => setMaking(true)}>
          Invite someone
        </button>
      )}
      {invitations.isError && (
        <AdminFailure error={invitations.error} onRetry={() => invitations.refetch()} />
      )}
      {invitations.isPending && <div className="skeleton h-24" aria-busy="true" />}
      {invitations.data?.length === 0 && <p className="text-ink-3">No invitations yet.</p>}
      {invitations.data && invitations.data.length > 0 && (
        <ul aria-label="Invitations">
          {invitations.data.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </ul>
      )}
    </div>
  )
}

function InvitationRow({ invitation }: { invitation: Invitation }) {
  const { id, note, role, created_by, created_at, expires_at, used_at, used_by } = invitation
  const client = useCalls(adminCalls)
  const dialog = useRef<HTMLDialogElement>(null)
  const revoke = useAdminMutation(() => client.revokeInvitation(id))
  const isExpired = Date.parse(expires_at) <= Date.now()
  const isOpen = used_at === null && !isExpired
  const title = note ?? 'Without a note'
  return (
    <li className="flex items-center gap-4 border-line border-t py-3.5 text-[15px] sm:gap-6">
      <div className="min-w-0 flex-1">
        <p className="break-words font-medium">
          {title}
          {role === 'admin' && <span className="tag ml-2">administrator</span>}
        </p>
        <p className="break-words text-[14px] text-ink-3">
          {used_at !== null && `used by ${used_by} ${formatAge(used_at)}`}
          {used_at === null && isExpired && `expired on ${formatTime(expires_at)}`}
          {isOpen && `open until ${formatTime(expires_at)}`} · created by{' '}
          {created_by ?? 'a command on the registry’s host'} {formatAge(created_at)}
        </p>
      </div>
      {isOpen && (
        <button type="button" className="ctl h-9" onClick={() => dialog.current?.showModal()}>
          Revoke<span className="sr-only"> the invitation: {title}</span>
        </button>
      )}
      <ConfirmDialog
        dialog={dialog}
        title="Revoke this invitation?"
        action="Revoke invitation"
        isBusy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate(undefined)}
      >
        {note && `${note}. `}The link stops working immediately. This cannot be undone.
      </ConfirmDialog>
    </li>
  )
}
