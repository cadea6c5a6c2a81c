import { ApiError, type Registration } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { meQuery, registryQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Field } from '../ui/field.tsx'
import { fieldErrors } from '../ui/field-errors.ts'
import { PasswordField } from '../ui/password-field.tsx'
import { sentence } from '../ui/sentence.ts'
import { AccountForm } from './account-form.tsx'
import { useAccount } from './use-account.ts'
import { useInvitation } from './use-invitation.ts'

const route = getRouteApi('/register')

export function RegisterScreen() {
  const search = route.useSearch()
  const client = useClient()
  const { register } = client
  const { data: settings } = useQuery(registryQuery(client))
  const { mutate, isPending, error } = useAccount<Registration>(register, search.next)
  const invitation = useInvitation()
  const isTaken = error instanceof ApiError && error.status === 409
  const wantsCode = error instanceof ApiError && error.problem.code === 'setup_code_required'
  const wrong = fieldErrors(error)
  const isInvitationInvalid =
    invitation !== undefined &&
    error instanceof ApiError &&
    (error.problem.code === 'invitation_invalid' || wrong['/invitation'] !== undefined)
  if (settings?.registration_open === false && !invitation) return <Closed />
  const isAboutFields = isTaken || wantsCode || isInvitationInvalid || Object.keys(wrong).length > 0
  return (
    <>
      <PageHead title="Register" path="/register" />
      <AccountForm
        title="Register"
        action="Create account"
        isBusy={isPending}
        problem={isAboutFields ? undefined : error?.message}
        error={error}
        onSubmit={(values) =>
          mutate({ ...registrationFrom(values), ...(invitation && { invitation }) })
        }
        footer={
          <>
            Already have an account?{' '}
            <Link to="/login" search={search} className="link">
              Sign in
            </Link>
          </>
        }
      >
        {invitation && <InvitationNote isInvalid={isInvitationInvalid} />}
        <Field
          label="Username"
          name="username"
          hint="2 to 64 characters: lowercase letters, digits, hyphens or underscores."
          error={isTaken ? 'That username is not available.' : wrong['/username']}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          pattern="[a-z0-9_\-]{2,64}"
          required
        />
        <PasswordField
          label="Password"
          name="password"
          hint="At least 8 characters."
          error={wrong['/password']}
          autoComplete="new-password"
          minLength={8}
          required
        />
        <Field
          label="Email (optional)"
          name="email"
          type="email"
          error={wrong['/email']}
          autoComplete="email"
        />
        {wantsCode && (
          <Field
            label="Setup code"
            name="setup_code"
            hint="The registry prints this code to its terminal or log when it starts."
            error={sentence(error.message)}
            autoComplete="off"
            required
          />
        )}
      </AccountForm>
    </>
  )
}

/** Shown instead of the form if an account can be created only with an invitation. */
function Closed() {
  return (
    <div className="page grid justify-items-center py-14">
      <PageHead title="Register" path="/register" />
      <div className="w-full max-w-[400px]">
        <ScreenTitle className="mb-6 font-bold text-[30px] tracking-[-0.03em]">
          Register
        </ScreenTitle>
        <p>
          Registration on this registry is closed. To create an account, ask an administrator for an
          invitation.
        </p>
        <p className="mt-6 text-[15px] text-ink-2">
          Already have an account?{' '}
          <Link to="/login" className="link">
            Sign in
          </Link>
        </p>
      </div>
    </div>
  )
}

function InvitationNote({ isInvalid }: { isInvalid: boolean }) {
  const { data: me } = useQuery(meQuery(useClient()))
  return (
    <>
      <p className="rounded-ctl bg-sea-soft px-3.5 py-2.5 text-[15px]">
        You have been invited to this registry. With this invitation, you can create one account.
        {me &&
          ` You are signed in as ${me.username}. After you register, you will be signed in to the new account instead.`}
      </p>
      <div role="alert" className="empty:hidden">
        {isInvalid && (
          <p className="rounded-ctl bg-roe-soft px-3.5 py-2.5 text-[15px] text-roe-ink">
            This invitation is not valid: it has been used or revoked, or has expired. Ask the
            person who invited you for a new one, or{' '}
            <Link to="/register" className="underline">
              register without an invitation
            </Link>
            .
          </p>
        )}
      </div>
    </>
  )
}

/** Omits empty fields. */
function registrationFrom(values: Record<string, string>): Registration {
  const { username = '', password = '', email, setup_code } = values
  return {
    username: username.trim(),
    password,
    ...(email && { email }),
    ...(setup_code && { setup_code }),
  }
}
