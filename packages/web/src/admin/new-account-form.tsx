import type { CreatedUser, NewUser } from '@shoal/protocol'
import { ApiError, adminCalls } from '@shoal/protocol/client'
import { type FormEvent, useEffect } from 'react'
import { useCalls } from '../api/context.ts'
import { Field } from '../ui/field.tsx'
import { fieldErrors, useFocusOnError } from '../ui/field-errors.ts'
import { sentence } from '../ui/sentence.ts'
import { useAdminMutation } from './calls/use-admin-mutation.ts'
import { RoleField } from './role-field.tsx'

type Props = { onMade: (made: CreatedUser) => void; onCancel: () => void }

export function NewAccountForm({ onMade, onCancel }: Props) {
  const client = useCalls(adminCalls)
  const make = useAdminMutation(client.createUser)
  const form = useFocusOnError(make.error)
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
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
  const isAboutFields = isTaken || Object.keys(wrong).length > 0
  return (
    <form ref={form} className="panel mb-6 grid max-w-[680px] gap-5" onSubmit={submit}>
      <h3 className="font-semibold text-[18px]">New account</h3>
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
      <p role="alert" className="text-[15px] text-roe-ink empty:hidden">
        {error && !isAboutFields && sentence(error.message)}
      </p>
      <div className="flex gap-3">
        <button type="submit" className="ctl-ink" disabled={make.isPending}>
          Create account
        </button>
        <button type="button" className="ctl" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
