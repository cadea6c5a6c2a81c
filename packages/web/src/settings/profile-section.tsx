import { formatBytes } from '@shoal/core/units'
import type { Me, Usage } from '@shoal/protocol'
import { credentialCalls } from '@shoal/protocol/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCalls, useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { explain } from '../ui/explain.ts'
import { fieldErrors } from '../ui/field-errors.ts'
import { Form } from '../ui/form.tsx'
import { PasswordField } from '../ui/password-field.tsx'

const day = new Intl.DateTimeFormat('en', { dateStyle: 'long' })

export function ProfileSection({ user }: { user: Me }) {
  useQuery({ ...meQuery(useClient()), refetchOnMount: 'always' }) // the usage may have changed
  const facts = [
    ['Username', user.username],
    ['Email', user.email ?? 'none'],
    ['Joined', day.format(new Date(user.created_at))],
    ...(user.is_admin ? [['Role', 'administrator']] : []),
    ['Storage', formatStorage(user.usage)],
    ['Models', String(user.usage.models_count)],
    ['API keys', String(user.usage.api_keys_count)],
  ] as const
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-8 gap-y-2 text-[15px]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-[15px]">
        <Link to="/u/$username" params={{ username: user.username }} className="link">
          Your models
        </Link>
      </p>
      <PasswordForm />
    </>
  )
}

function formatStorage({ stored_bytes, quota_bytes }: Usage): string {
  const stored = formatBytes(stored_bytes)
  return quota_bytes === null ? `${stored} used` : `${stored} of ${formatBytes(quota_bytes)} used`
}

function PasswordForm() {
  const { changePassword } = useCalls(credentialCalls)
  const change = useMutation({ mutationFn: changePassword })
  const wrong = fieldErrors(change.error)
  const isAboutNew = wrong['/new_password'] !== undefined

  function submit(values: FormData, form: HTMLFormElement) {
    const [current_password, new_password] = [
      String(values.get('current_password')),
      String(values.get('new_password')),
    ]
    change.mutate({ current_password, new_password }, { onSuccess: () => form.reset() })
  }

  return (
    <Form
      title="Change password"
      action="Change password"
      isBusy={change.isPending}
      error={change.error}
      hasFieldErrors
      onSubmit={submit}
      note={
        <span role="status" className="text-[15px] text-ok">
          {change.isSuccess && 'Password changed.'}
        </span>
      }
      className="mt-10 max-w-[400px]"
    >
      <PasswordField
        label="Current password"
        name="current_password"
        autoComplete="current-password"
        error={change.error && !isAboutNew ? explain(change.error) : undefined}
        required
      />
      <PasswordField
        label="New password"
        name="new_password"
        autoComplete="new-password"
        hint="At least 8 characters. Changing your password ends your other sessions."
        error={wrong['/new_password']}
        minLength={8}
        required
      />
    </Form>
  )
}
