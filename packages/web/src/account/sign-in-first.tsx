import { Link, useLocation } from '@tanstack/react-router'

export function SignInFirst({ text = 'Sign in to see this page.' }: { text?: string }) {
  const next = useLocation({ select: ({ href }) => href })
  return (
    <div className="panel">
      <p className="text-ink-2">{text}</p>
      <Link to="/login" search={{ next }} className="ctl-ink mt-4">
        Sign in
      </Link>
    </div>
  )
}
