import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { Disclosure } from '../ui/disclosure.tsx'

export function AccountMenu({ username }: { username: string }) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { mutate: signOut } = useMutation({
    mutationFn: client.logout,
    onSettled: () => queryClient.resetQueries(),
  })
  return (
    <Disclosure
      label={`Signed in as ${username}`}
      className="ctl-quiet rounded-full bg-sunken font-semibold text-[15px]"
      icon={<span aria-hidden="true">{username.slice(0, 1).toUpperCase()}</span>}
    >
      <Link to="/u/$username" params={{ username }} className="pop-item">
        Your models
      </Link>
      <Link to="/settings/{-$section}" className="pop-item">
        Settings
      </Link>
      <button type="button" className="pop-item" onClick={() => signOut()}>
        Sign out
      </button>
    </Disclosure>
  )
}
