import { formatModelArgument } from '@shoal/core/references'
import { CircleAlert } from 'lucide-react'
import { CommandLine } from '../../ui/command-line.tsx'
import type { ChatFailure } from '../conversation/conversation.ts'

type ModelsProblemProps = { as: 'h1' | 'h2'; fault: ChatFailure | undefined; onRetry: () => void }

const noModels: ChatFailure = {
  title: 'No models installed',
  advice: 'Pull a model to chat with. To try the chat, pull this small test model:',
  pull: 'shoal-tiny',
}

/** Shows why no model is available. */
export function ModelsProblem({ as: Heading, fault = noModels, onRetry }: ModelsProblemProps) {
  return (
    <div className="my-auto py-10" role="alert">
      <Heading className="font-semibold text-[26px]">{fault.title}</Heading>
      <p className="mt-2 text-ink-2">{fault.advice}</p>
      <Command fault={fault} />
      <button type="button" className="ctl mt-5" onClick={onRetry}>
        {fault === noModels ? 'Retry' : 'Try again'}
      </button>
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

/** A command to pull a model names the registry from which the daemon pulls, unless it is the CLI's default. */
function Command({ fault: { command, pull } }: { fault: ChatFailure }) {
  const { registry } = document.documentElement.dataset
  const text = pull === undefined ? command : `shoal pull ${formatModelArgument(registry, pull)}`
  return text === undefined ? null : <CommandLine text={text} className="mt-3 max-w-md" />
}
