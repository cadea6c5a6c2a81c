import { CircleAlert } from 'lucide-react'
import { CopyButton } from '../ui/copy-button.tsx'
import type { Fault } from './conversation/conversation.ts'

type TroubleProps = { as: 'h1' | 'h2'; fault: Fault | undefined; onRetry: () => void }

const noModels: Fault = {
  title: 'No model is here yet',
  advice: 'Pull one, and it can be talked to at once. This one is small and made for trying:',
  command: 'shoal pull shoal-tiny',
}

/** Why there is nobody to talk to. */
export function ModelsTrouble({ as: Heading, fault = noModels, onRetry }: TroubleProps) {
  return (
    <div className="my-auto py-10" role="alert">
      <Heading className="font-semibold text-[26px]">{fault.title}</Heading>
      <p className="mt-2 text-ink-2">{fault.advice}</p>
      {fault.command && <Command text={fault.command} />}
      <button type="button" className="ctl mt-5" onClick={onRetry}>
        {fault === noModels ? 'Look again' : 'Try again'}
      </button>
    </div>
  )
}

/** Why an answer did not come. */
export function FaultNotice({ fault: { title, advice, command } }: { fault: Fault }) {
  return (
    <div className="rounded-card border border-roe-ink/45 bg-surface px-4 py-3">
      <p className="flex gap-2 font-semibold">
        <CircleAlert size={18} aria-hidden className="mt-[3px] shrink-0 text-roe-ink" />
        {title}
      </p>
      <p className="mt-1 break-words text-[15px] text-ink-2">{advice}</p>
      {command && <Command text={command} />}
    </div>
  )
}

function Command({ text }: { text: string }) {
  return (
    <p className="mt-3 flex max-w-md items-center justify-between gap-3 rounded-xl border border-line bg-sunken py-1 pr-1 pl-4">
      <code className="overflow-x-auto whitespace-nowrap font-mono text-[14px]">{text}</code>
      <CopyButton value={text} label="Copy the command" className="ctl-quiet shrink-0" />
    </p>
  )
}
