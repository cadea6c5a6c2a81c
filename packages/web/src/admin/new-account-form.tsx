import type { CreatedUser, NewUser } from '@shoal/protocol'
import { ApiError, adminCalls } from '@shoal/protocol/client'
import { useCalls } from '../api/context.ts'
import { Field } from '../ui/field.tsx'
import { fieldErrors } from '../ui/field-errors.ts'
import { Form } from '../ui/form.tsx'
import { sentence } from '../ui/sentence.ts'
import { useAdminMutation } from './calls/use-admin-mutation.ts'
import { RoleField } from './role-field.tsx'

type Props = { onMade: (made: CreatedUser) => void; onCancel: () => void }

export function NewAccountForm({ onMade, onCancel }: Props) {
  const client = useCalls(adminCalls)
  const make = useAdminMutation(client.createUser)

  function submit(values: FormData) {
    const email = String(values.get('email')).trim()
    make.mutate(
      {
        username: String(values.get('username')).trim(),
        role: values.get('role') as NonNullable<NewUser['role']>,
        ...(email && { email }),
      },
      { onSuccess: onMade },
    )
  }

  const { error } = make
  const isTaken = error instanceof ApiError && error.status === 409
  const wrong = fieldErrors(error)
  return (
    <Form
      title="New account"
      action="Create account"
      isBusy={make.isPending}
      error={error}
      hasFieldErrors={isTaken || Object.keys(wrong).length > 0}
      onSubmit={submit}
      onCancel={onCancel}
      className="panel mb-6 max-w-[680px]"
    >
      <Field
        label="Username"
        name="username"
        hint="2 to 64 characters: lowercase letters, digits, hyphens or underscores."
        error={isTaken ? sentence(error.message) : wrong['/username']}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        pattern="[a-z0-9_\-]{2,64}"
        required
      />
      <Field
        label="Email (optional)"
        name="email"
        type="email"
        autoComplete="off"
        error={wrong['/email']}
      />
      <RoleField />
    </Form>
  )
}
