import type { CreatedInvitation, NewInvitation } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useCalls } from '../api/context.ts'
import { Field } from '../ui/field.tsx'
import { fieldErrors } from '../ui/field-errors.ts'
import { Form } from '../ui/form.tsx'
import { useAdminMutation } from './calls/use-admin-mutation.ts'
import { RoleField } from './role-field.tsx'

type Props = { onMade: (made: CreatedInvitation) => void; onCancel: () => void }

export function NewInvitationForm({ onMade, onCancel }: Props) {
  const client = useCalls(adminCalls)
  const make = useAdminMutation(client.createInvitation)

  function submit(values: FormData) {
    const note = String(values.get('note')).trim()
    const role = values.get('role') as NonNullable<NewInvitation['role']>
    make.mutate({ role, ...(note && { note }) }, { onSuccess: onMade })
  }

  const wrong = fieldErrors(make.error)
  return (
    <Form
      title="New invitation"
      action="Create invitation"
      isBusy={make.isPending}
      error={make.error}
      hasFieldErrors={wrong['/note'] !== undefined}
      onSubmit={submit}
      onCancel={onCancel}
      className="panel mb-6 max-w-[680px]"
    >
      <Field
        label="Note (optional)"
        name="note"
        hint="For example, who the invitation is for. Only administrators see the note."
        error={wrong['/note']}
        maxLength={200}
        autoComplete="off"
      />
      <RoleField />
    </Form>
  )
}
