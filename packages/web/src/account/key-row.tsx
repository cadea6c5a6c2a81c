import { formatAge } from '@shoal/core/units'
import type { ApiKey } from '@shoal/protocol/client'
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

type Props = { apiKey: ApiKey; revoke: (id: string) => Promise<unknown> }

/** An API key in a list, with a button that revokes it. */
export function KeyRow({ apiKey, revoke }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const revocation = useMutation({ mutationFn: () => revoke(apiKey.id) })
  const { name, prefix, scopes, last_used_at, expires_at } = apiKey
  return (
    <li className="flex items-center gap-4 border-line border-t py-3.5 text-[15px] sm:gap-6">
      <div className="min-w-0 flex-1 justify-between gap-6 sm:flex">
        <div className="min-w-0">
          <p className="break-words font-medium text-ink">{name}</p>
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
        isBusy={revocation.isPending}
        error={revocation.error}
        onConfirm={() => revocation.mutate()}
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
