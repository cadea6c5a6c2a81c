import { type CreatedApiKey, credentialCalls } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { useCalls } from '../api/context.ts'
import { keysQuery } from '../api/queries.ts'
import { Field } from '../ui/field.tsx'
import { fieldErrors } from '../ui/field-errors.ts'
import { Form } from '../ui/form.tsx'

type Scope = 'read' | 'write' | 'admin'
type Props = { isAdmin: boolean; onMade: (key: CreatedApiKey) => void; onCancel: () => void }

const scopes: { value: Scope; text: string }[] = [
  { value: 'read', text: 'read: view and pull models, including your private ones' },
  { value: 'write', text: 'write: publish, edit and like models' },
  { value: 'admin', text: 'admin: administer this registry' },
]
const lifetimes = [
  { days: 30, text: '30 days' },
  { days: 90, text: '90 days' },
  { days: 365, text: '1 year' },
  { days: 0, text: 'Never' },
]
const defaultDays = 90

export function NewKeyForm({ isAdmin, onMade, onCancel }: Props) {
  const client = useCalls(credentialCalls)
  const queryClient = useQueryClient()
  const make = useMutation({
    mutationFn: client.createApiKey,
    onSuccess(key) {
      onMade(key)
      return queryClient.invalidateQueries(keysQuery(client))
    },
  })
  const expiry = useId()

  function submit(values: FormData) {
    const days = Number(values.get('days'))
    const expires_at = days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString()
    make.mutate({
      name: String(values.get('name')).trim(),
      scopes: values.getAll('scope') as Scope[],
      expires_at,
    })
  }

  const wrong = fieldErrors(make.error)
  return (
    <Form
      title="New key"
      action="Create key"
      isBusy={make.isPending}
      error={make.error}
      hasFieldErrors={wrong['/name'] !== undefined}
      onSubmit={submit}
      onCancel={onCancel}
      className="panel mt-5"
    >
      <Field
        label="Name"
        name="name"
        placeholder="laptop"
        autoComplete="off"
        maxLength={100}
        error={wrong['/name']}
        required
      />
      <fieldset>
        <legend className="label">Permissions</legend>
        {scopes
          .filter(({ value }) => value !== 'admin' || isAdmin)
          .map(({ value, text }) => (
            <label key={value} className="flex items-center gap-2.5 py-1 text-[15px]">
              <input
                type="checkbox"
                name="scope"
                value={value}
                defaultChecked={value !== 'admin'}
                className="size-4 accent-roe"
              />
              {text}
            </label>
          ))}
      </fieldset>
      <div>
        <label className="label" htmlFor={expiry}>
          Expiration
        </label>
        <select id={expiry} name="days" defaultValue={defaultDays} className="ctl">
          {lifetimes.map(({ days, text }) => (
            <option key={days} value={days}>
              {text}
            </option>
          ))}
        </select>
      </div>
    </Form>
  )
}
