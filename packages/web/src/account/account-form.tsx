import { type FormEvent, type ReactNode, useId } from 'react'
import { useApp } from '../api/context.ts'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Logo } from '../fish/fish.tsx'
import { useFocusOnError } from '../ui/field-errors.ts'
import { sentence } from '../ui/sentence.ts'

type Props = {
  title: string
  action: string
  isBusy: boolean
  /** The error message to show above the fields; undefined if the fields show their own errors. */
  problem: string | undefined
  error: Error | null
  onSubmit: (values: Record<string, string>) => void
  children: ReactNode
  footer: ReactNode
}

/** The form on the sign-in and registration screens. */
export function AccountForm(props: Props) {
  const { title, action, isBusy, problem, error, onSubmit, children, footer } = props
  const form = useFocusOnError(error)
  const isPrinted = useApp().head !== undefined // the form does not work until the scripts have loaded
  const id = useId()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = Object.fromEntries(new FormData(event.currentTarget).entries())
    onSubmit(values as Record<string, string>)
  }

  return (
    <div className="page grid justify-items-center py-14">
      <div className="w-full max-w-[400px]">
        <div className="mb-6 *:size-14">
          <Logo />
        </div>
        <ScreenTitle className="mb-6 font-bold text-[30px] tracking-[-0.03em]">{title}</ScreenTitle>
        <form
          ref={form}
          method="post"
          className="grid gap-5"
          aria-describedby={id}
          onSubmit={submit}
        >
          <div id={id} role="alert" className="empty:hidden">
            {problem && (
              <p className="rounded-ctl bg-roe-soft px-3.5 py-2.5 text-[15px] text-roe-ink">
                {sentence(problem)}
              </p>
            )}
          </div>
          {children}
          <button type="submit" className="ctl-ink mt-1" disabled={isBusy || isPrinted}>
            {isBusy ? 'Please wait …' : action}
          </button>
        </form>
        <p className="mt-6 text-[15px] text-ink-2">{footer}</p>
      </div>
    </div>
  )
}
