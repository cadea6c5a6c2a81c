import type { CreatedInvitation, NewInvitation } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { type FormEvent, useEffect } from 'react'
import { useCalls } from '../api/context.ts'
import { Field } from '../ui/field.tsx'
import { fieldErrors, useFocusOnError } from '../ui/field-errors.ts'
import { sentence } from '../ui/sentence.ts'
import { useAdminMutation } from './calls/use-admin-mutation.ts'
import { RoleField } from './role-field.tsx'

type Props = { onMade: (made: CreatedInvitation) => void; onCancel: () => void }

export function NewInvitationForm({ onMade, onCancel }: Props) {
  const client = useCalls(adminCalls)
  const make = useAdminMutation(client.createInvitation)
  const form = useFocusOnError(make.error)
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const note = String(values.get('note')).trim()
    const role = values.get('role') as NonNullable<NewInvitation['role']>
    make.mutate({ role, ...(note && { note }) }, { onSuccess: onMade })
  }

  const wrong = fieldErrors(make.error)
  return (
    <form ref={form} className="panel mb-6 grid max-w-[680px] gap-5" onSubmit={submit}>
      <h3 className="font-semibold text-[18px]">New invitation</h3>
      <Field
        label="Note (optional)"
        name="note"
        hint="For example, who the invitation is for. Only administrators see the note."
        error={wrong['/note']}
        maxLength={200}
        autoComplete="off"
      />
      <RoleField />
      <p role="alert" className="text-[15px] text-roe-ink empty:hidden">
        {make.error && !wrong['/note'] && sentence(make.error.message)}
      </p>
      <div className="flex gap-3">
        <button type="submit" className="ctl-ink" disabled={make.isPending}>
          Create invitation
        </button>
        <button type="button" className="ctl" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
