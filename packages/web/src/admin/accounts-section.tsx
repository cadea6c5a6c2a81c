import { plural } from '@shoal/core/units'
import type { AdminUser, Me } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useCalls } from '../api/context.ts'
import { SecretPanel } from '../ui/secret-panel.tsx'
import { AccountTable } from './account-table.tsx'
import { AdminFailure } from './calls/admin-failure.tsx'
import { usersQuery } from './calls/admin-queries.ts'
import { AccountDialog, type Dialog } from './dialogs/account-dialog.tsx'
import { NewAccountForm } from './new-account-form.tsx'

/** Number of accounts shown at a time. Thousands of rows would make the page slow. */
const shownAtATime = 100

type Password = { username: string; password: string; note?: string }

export function AccountsSection({ me }: { me: Me }) {
  const users = useQuery(usersQuery(useCalls(adminCalls)))
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Password>()
  const [opened, setOpened] = useState<{ dialog: Dialog; user: AdminUser }>()
  const [report, setReport] = useState('')
  // If another admin has removed the account, the dialog stays open to show the registry's error.
  const user = users.data?.find(({ id }) => id === opened?.user.id) ?? opened?.user
  return (
    <>
      {made && (
        <div className="mb-6 max-w-[680px]">
          <SecretPanel
            key={made.password}
            title={`Password of ${made.username}`}
            text={`Copy the password now. You won’t be able to see it again. After signing in, ${made.username} can change it in the settings.`}
            secret={made.password}
            label="Copy the password"
            onDone={() => setMade(undefined)}
          >
            {made.note && <p className="mt-3 text-[15px] text-ink-2">{made.note}</p>}
          </SecretPanel>
        </div>
      )}
      {isMaking && (
        <NewAccountForm
          onMade={({ user: { username }, password }) => {
            setMade({ username, password })
            setMaking(false)
          }}
          onCancel={() => setMaking(false)}
        />
      )}
      <p role="status" className="mb-3 text-[15px] text-ok empty:hidden">
        {report}
      </p>
      {users.isError && <AdminFailure error={users.error} onRetry={() => users.refetch()} />}
      {users.isPending && <div className="skeleton h-40" aria-busy="true" />}
      {users.data && (
        <FoundAccounts
          users={users.data}
          me={me}
          onAdd={isMaking ? undefined : () => setMaking(true)}
          onOpen={(dialog, chosen) => {
            setReport('')
            setOpened({ dialog, user: chosen })
          }}
        />
      )}
      {opened && user && (
        <AccountDialog
          dialog={opened.dialog}
          user={user}
          isSelf={user.id === me.id}
          users={users.data ?? []}
          onReset={({ password, sessions_ended, keys_revoked }) =>
            setMade({
              username: user.username,
              password,
              note: `${plural(sessions_ended, 'session')} ended, ${plural(keys_revoked, 'API key')} revoked.`,
            })
          }
          onDone={setReport}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

type FoundProps = {
  users: readonly AdminUser[]
  me: Me
  onAdd: (() => void) | undefined
  onOpen: (dialog: Dialog, user: AdminUser) => void
}

function FoundAccounts({ users, me, onAdd, onOpen }: FoundProps) {
  const [wanted, setWanted] = useState('')
  const [shown, setShown] = useState(shownAtATime)
  const id = useId()
  const word = wanted.trim().toLowerCase()
  const found = users.filter(
    ({ username, email }) => username.includes(word) || email?.toLowerCase().includes(word),
  )
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-x-5 gap-y-3">
        <div className="w-full max-w-[400px]">
          <label className="label" htmlFor={id}>
            Find accounts
          </label>
          <input
            id={id}
            type="search"
            className="field"
            placeholder="Username or email"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            value={wanted}
            onChange={({ target }) => {
              setWanted(target.value)
              setShown(shownAtATime)
            }}
          />
        </div>
        <p role="status" className="mr-auto py-2 text-[15px] text-ink-3">
          {plural(found.length, 'account')}
        </p>
        {onAdd && (
          <button type="button" className="ctl-ink" onClick={onAdd}>
            Add account
          </button>
        )}
      </div>
      {found.length === 0 ? (
        <p className="border-line border-t py-5 text-ink-3">
          No account matches “{wanted.trim()}”.
        </p>
      ) : (
        <AccountTable users={found.slice(0, shown)} me={me} onOpen={onOpen} />
      )}
      {found.length > shown && (
        <button type="button" className="ctl mt-5" onClick={() => setShown(shown + shownAtATime)}>
          Show more accounts
        </button>
      )}
    </>
  )
}
