import { type ReactNode, useEffect, useRef } from 'react'
import { CommandLine } from './command-line.tsx'

type Props = {
  title: string
  /** Explains what the secret is for, and that it is shown only once. */
  text: string
  secret: string
  /** The label of the copy button. */
  label: string
  onDone: () => void
  children?: ReactNode
}

/** Shows a secret that cannot be shown again. */
export function SecretPanel({ title, text, secret, label, onDone, children }: Props) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.focus(), [])
  return (
    <div ref={panel} tabIndex={-1} className="panel mt-5 border-ok outline-none">
      <h3 className="break-words font-semibold text-[18px]">{title}</h3>
      <p className="mt-1 text-[15px] text-ink-2">{text}</p>
      <CommandLine text={secret} label={label} className="mt-2" />
      {children}
      <button type="button" className="ctl mt-4" onClick={onDone}>
        Done
      </button>
    </div>
  )
}
