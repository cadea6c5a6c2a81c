import { Check, Copy, X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { copyText } from './copy-text.ts'

type Props = {
  /** The text to copy, or a function that returns it when the button is clicked. */
  value: string | (() => Promise<string>)
  /** The label for screen readers, which is also the tooltip. */
  label: string
  children?: ReactNode
  className?: string
}

type State = 'idle' | 'copied' | 'failed'
const words = { idle: '', copied: 'Copied', failed: 'Copy failed' }
const shownMs = 1800

export function CopyButton({ value, label, children, className = 'ctl' }: Props) {
  const [state, setState] = useState<State>('idle')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  async function copy() {
    const outcome = await (async () =>
      copyText(typeof value === 'string' ? value : await value()))()
      .then((): State => 'copied')
      .catch((): State => 'failed')
    setState(outcome)
    clearTimeout(timer.current)
    timer.current = setTimeout(setState, shownMs, 'idle')
  }

  return (
    <button type="button" className={className} onClick={copy} aria-label={label} title={label}>
      <Icon state={state} />
      {children}
      <span className="sr-only" role="status">
        {words[state]}
      </span>
    </button>
  )
}

function Icon({ state }: { state: State }) {
  if (state === 'copied') return <Check size={16} aria-hidden className="text-ok" />
  if (state === 'failed') return <X size={16} aria-hidden className="text-roe-ink" />
  return <Copy size={16} aria-hidden />
}
