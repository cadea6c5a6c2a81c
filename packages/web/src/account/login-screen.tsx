import type { Login } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { registryQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { Field } from '../ui/field.tsx'
import { PasswordField } from '../ui/password-field.tsx'
import { AccountForm } from './account-form.tsx'
import { useAccount } from './use-account.ts'

const route = getRouteApi('/login')

export function LoginScreen() {
  const search = route.useSearch()
  const client = useClient()
  const { login } = client
  const isOpen = useQuery(registryQuery(client)).data?.registration_open !== false
  const { mutate, isPending, error } = useAccount<Login>(login, search.next)
  return (
    <>
      <PageHead title="Sign in" path="/login" />
      <AccountForm
        title="Sign in"
        action="Sign in"
        isBusy={isPending}
        problem={error?.message}
        error={error}
        onSubmit={({ username = '', password = '' }) => mutate({ username, password })}
        footer={
          <>
            No account yet?{' '}
            {isOpen ? (
              <Link to="/register" search={search} className="link">
                Register
              </Link>
            ) : (
              'Ask an administrator of this registry for an invitation.'
            )}
          </>
        }
      >
        <Field
          label="Username"
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        <PasswordField label="Password" name="password" autoComplete="current-password" required />
      </AccountForm>
    </>
  )
}
