import { formatBytes } from '@shoal/core/units'
import type { Pull } from './model-store.ts'

type Props = {
  name: string
  pull: Extract<Pull, { state: 'starting' | 'running' }>
  onCancel: () => void
}

/** The progress of a pull. It is announced to screen readers in steps of ten percent. */
export function PullProgress({ name, pull, onCancel }: Props) {
  const { completed, total } = pull.state === 'running' ? pull : { completed: 0, total: 0 }
  const share = total === 0 ? 0 : completed / total
  return (
    <div className="flex w-full items-center gap-3">
      <div className="min-w-0 flex-1">
        <progress
          aria-label={`Download of ${name}`}
          className="pull-progress"
          max={1}
          {...(pull.state === 'running' && { value: share })}
        />
        <p className="mt-1 font-mono text-[13px] text-ink-2 tabular-nums">
          {pull.state === 'starting' && 'Contacting the registry …'}
          {pull.state === 'running' &&
            share < 1 &&
            `${formatBytes(completed)} of ${formatBytes(total)}`}
          {pull.state === 'running' && share >= 1 && 'Verifying …'}
        </p>
        <p className="sr-only" role="status">
          {share > 0 && `${Math.floor(share * 10) * 10}% downloaded`}
        </p>
      </div>
      <button type="button" className="ctl h-9 shrink-0 text-[14px]" onClick={onCancel}>
        Cancel
      </button>
    </div>
  )
}
