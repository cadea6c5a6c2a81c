import { formatAge } from '@shoal/core/units'
import type { ApiKey, CreatedApiKey, User } from '@shoal/protocol/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useClient } from '../api/context.ts'
import { keysQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Failure } from '../ui/problem.tsx'
import { NewKeyForm } from './new-key-form.tsx'
import { NewSecret } from './new-secret.tsx'

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

export function KeysSection({ user }: { user: User }) {
  const client = useClient()
  const keys = useQuery(keysQuery(client))
  const [made, setMade] = useState<CreatedApiKey>()
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <p className="text-[15px] text-ink-2">
        API keys are for programs such as the CLI, scripts and third-party clients. A key never has
        more permissions than your account.
      </p>
      {made && <NewSecret made={made} onDone={() => setMade(undefined)} />}
      {isMaking ? (
        <NewKeyForm
          isAdmin={user.is_admin}
          onMade={(key) => {
            setMade(key)
            setMaking(false)
          }}
          onCancel={() => setMaking(false)}
        />
      ) : (
        <button type="button" className="ctl-ink mt-5" onClick={() => setMaking(true)}>
          New key
        </button>
      )}
      <div className="mt-8">
        {keys.isError && <Failure as="h2" error={keys.error} onRetry={() => keys.refetch()} />}
        {keys.isPending && <div className="skeleton h-24" aria-busy="true" />}
        {keys.data?.length === 0 && <p className="text-ink-3">No keys yet.</p>}
        {keys.data && keys.data.length > 0 && (
          <ul>
            {keys.data.map((key) => (
              <KeyRow key={key.id} apiKey={key} />
            ))}
          </ul>
        )}
      </div>
    </>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const client = useClient()
  const queryClient = useQueryClient()
  const dialog = useRef<HTMLDialogElement>(null)
  const revoke = useMutation({
    mutationFn: () => client.deleteApiKey(apiKey.id),
    onSuccess: () => queryClient.invalidateQueries(keysQuery(client)),
  })
  const { name, prefix, scopes, last_used_at, expires_at } = apiKey
  return (
    <li className="flex items-center gap-4 border-line border-t py-3.5 text-[15px] sm:gap-6">
      <div className="min-w-0 flex-1 justify-between gap-6 sm:flex">
        <div className="min-w-0">
          <p className="break-words font-medium">{name}</p>
          <p className="text-[14px] text-ink-3">
            <span className="font-mono">{prefix}…</span> · {scopes.join(', ')}
          </p>
        </div>
        <p className="shrink-0 text-[14px] text-ink-3 sm:w-40">
          {last_used_at ? `used ${formatAge(last_used_at)}` : 'never used'}
          <br />
          {formatExpiry(expires_at)}
        </p>
      </div>
      <button type="button" className="ctl h-9" onClick={() => dialog.current?.showModal()}>
        Revoke<span className="sr-only"> {name}</span>
      </button>
      <ConfirmDialog
        dialog={dialog}
        title={`Revoke “${name}”?`}
        action="Revoke key"
        isBusy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate()}
      >
        Programs that use this key lose access immediately. This cannot be undone.
      </ConfirmDialog>
    </li>
  )
}

function formatExpiry(expiresAt: string | null): string {
  if (expiresAt === null) return 'never expires'
  const end = new Date(expiresAt)
  return `${end.getTime() < Date.now() ? 'expired' : 'expires'} ${day.format(end)}`
}
