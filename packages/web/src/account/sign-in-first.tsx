import { SignInLink } from '../ui/sign-in-link.tsx'

export function SignInFirst({ text = 'Sign in to see this page.' }: { text?: string }) {
  return (
    <div className="panel">
      <p className="text-ink-2">{text}</p>
      <SignInLink className="mt-4" />
    </div>
  )
}
