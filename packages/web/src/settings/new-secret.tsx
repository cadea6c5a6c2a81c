import type { CreatedApiKey } from '@shoal/protocol/client'
import { useCommands } from '../api/use-commands.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { SecretPanel } from '../ui/secret-panel.tsx'

type Props = { made: CreatedApiKey; onDone: () => void }

/** Shows a newly created key, which cannot be shown again. */
export function NewSecret({ made: { name, key }, onDone }: Props) {
  const { registryOption } = useCommands()
  return (
    <SecretPanel
      title={`Key “${name}”`}
      text="Copy the key now. You won’t be able to see it again."
      secret={key}
      label="Copy the key"
      onDone={onDone}
    >
      <p className="mt-4 text-[15px] text-ink-2">
        To sign in on another machine, run this command there, paste the key, press Enter, and then
        press Ctrl-D:
      </p>
      <CommandLine text={`shoal login --token-stdin${registryOption}`} className="mt-2" />
    </SecretPanel>
  )
}
