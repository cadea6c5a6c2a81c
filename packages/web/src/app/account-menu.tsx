import { ApiError } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { User } from 'lucide-react'
import { useClient } from '../api/context.ts'
import { noteSignOut } from '../api/session.ts'
import { Disclosure } from '../ui/disclosure.tsx'

type Props = { username: string; isAdmin: boolean }

export function AccountMenu({ username, isAdmin }: Props) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { mutate: signOut } = useMutation({
    async mutationFn() {
      const { askToForgetDrafts } = await import('../drafts/ask-to-forget-drafts.ts') // loaded on demand
      if (!askToForgetDrafts()) return { isCanceled: true }
      await client.logout()
      return { isCanceled: false }
    },
    onSettled(result, error) {
      if (result?.isCanceled) return
      void queryClient.resetQueries()
      const hadEnded = error instanceof ApiError && error.status === 401
      if (!error || hadEnded) noteSignOut(queryClient)
    },
  })
  return (
    <Disclosure
      label={`Signed in as ${username}`}
      className="ctl-quiet rounded-full bg-sunken"
      icon={<User size={19} aria-hidden />}
    >
      <p className="max-w-60 truncate px-2.5 py-1.5 text-[14px] text-ink-3">{username}</p>
      <Link to="/u/$username" params={{ username }} className="pop-item">
        Your models
      </Link>
      <Link to="/settings/{-$section}" className="pop-item">
        Settings
      </Link>
      {isAdmin && (
        <Link to="/admin/{-$section}" className="pop-item">
          Administration
        </Link>
      )}
      <button type="button" className="pop-item" onClick={() => signOut()}>
        Sign out
      </button>
    </Disclosure>
  )
}
