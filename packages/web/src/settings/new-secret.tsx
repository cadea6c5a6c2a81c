import type { CreatedApiKey } from '@shoal/protocol/client'
import { useEffect, useRef } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'

type Props = { made: CreatedApiKey; onDone: () => void }

/** The one time that a key is shown. */
export function NewSecret({ made: { name, key }, onDone }: Props) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.focus(), [])
  const command = 'shoal login --token-stdin'
  return (
    <div ref={panel} tabIndex={-1} className="panel mt-5 border-roe bg-roe-soft outline-none">
      <h3 className="font-semibold text-[18px]">The key “{name}”</h3>
      <p className="mt-1 text-[15px] text-ink-2">
        Copy it now: it is shown this once. The registry keeps no copy.
      </p>
      <Copyable text={key} label="Copy the key" />
      <p className="mt-4 text-[15px] text-ink-2">
        On the machine that is to use it, run this and paste the key:
      </p>
      <Copyable text={command} label="Copy the command" />
      <button type="button" className="ctl mt-4" onClick={onDone}>
        I have it
      </button>
    </div>
  )
}

function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <p className="mt-2 flex items-center justify-between gap-3 rounded-ctl bg-surface py-1 pr-1 pl-3.5">
      <code className="min-w-0 break-all font-mono text-[14px]">{text}</code>
      <CopyButton value={text} label={label} className="ctl-quiet shrink-0" />
    </p>
  )
}
