import { formatModelArgument } from '@shoal/core/references'
import { CircleAlert } from 'lucide-react'
import { CommandLine } from '../../ui/command-line.tsx'
import type { ChatFailure } from '../conversation/conversation.ts'

type ModelsProblemProps = {
  as: 'h1' | 'h2'
  fault: ChatFailure | undefined
  onRetry: () => void
  /** Shows the search for models. */
  onFind: () => void
}

const noModels: ChatFailure = {
  title: 'No chat models installed',
  advice:
    'Find a model to chat with. To try the chat, you can also pull this small test model in a terminal:',
  pull: 'shoal-tiny',
}

/** Shows why no model is available. */
export function ModelsProblem({ as: Heading, fault = noModels, ...props }: ModelsProblemProps) {
  const { onRetry, onFind } = props
  return (
    <div className="my-auto py-10" role="alert">
      <Heading className="font-semibold text-[26px]">{fault.title}</Heading>
      <p className="mt-2 text-ink-2">{fault.advice}</p>
      <Command fault={fault} />
      <div className="mt-5 flex gap-3">
        {fault === noModels && (
          <button type="button" className="ctl-ink" onClick={onFind}>
            Find a model
          </button>
        )}
        <button type="button" className="ctl" onClick={onRetry}>
          {fault === noModels ? 'Check again' : 'Try again'}
        </button>
      </div>
    </div>
  )
}

/** Shows why an answer failed. */
export function FaultNotice({ fault }: { fault: ChatFailure }) {
  const { title, advice } = fault
  return (
    <div className="rounded-card border border-roe-ink/45 bg-surface px-4 py-3">
      <p className="flex gap-2 font-semibold">
        <CircleAlert size={18} aria-hidden className="mt-[3px] shrink-0 text-roe-ink" />
        {title}
      </p>
      <p className="mt-1 break-words text-[15px] text-ink-2">{advice}</p>
      <Command fault={fault} />
    </div>
  )
}

/** A pull command names the registry from which the daemon pulls, unless that registry is the CLI's default. */
function Command({ fault: { command, pull } }: { fault: ChatFailure }) {
  const { registry } = document.documentElement.dataset
  const text = pull === undefined ? command : `shoal pull ${formatModelArgument(registry, pull)}`
  return text === undefined ? null : <CommandLine text={text} className="mt-3 max-w-md" />
}
