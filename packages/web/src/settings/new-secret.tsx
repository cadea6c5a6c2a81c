import type { CreatedApiKey } from '@shoal/protocol/client'
import { useEffect, useRef } from 'react'
import { useCommands } from '../api/use-commands.ts'
import { CommandLine } from '../ui/command-line.tsx'

type Props = { made: CreatedApiKey; onDone: () => void }

/** Shows a newly created key, which cannot be shown again. */
export function NewSecret({ made: { name, key }, onDone }: Props) {
  const { registryOption } = useCommands()
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.focus(), [])
  return (
    <div ref={panel} tabIndex={-1} className="panel mt-5 border-ok outline-none">
      <h3 className="font-semibold text-[18px]">Key “{name}”</h3>
      <p className="mt-1 text-[15px] text-ink-2">
        Copy the key now. You won’t be able to see it again.
      </p>
      <CommandLine text={key} label="Copy the key" className="mt-2" />
      <p className="mt-4 text-[15px] text-ink-2">
        To sign in on another machine, run this command there, paste the key, press Enter, and press
        Ctrl-D:
      </p>
      <CommandLine text={`shoal login --token-stdin${registryOption}`} className="mt-2" />
      <button type="button" className="ctl mt-4" onClick={onDone}>
        Done
      </button>
    </div>
  )
}
