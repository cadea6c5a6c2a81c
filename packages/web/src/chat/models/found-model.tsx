import { formatBytes, formatCount, formatMemory } from '@shoal/core/units'
import type { RegistryModel } from '@shoal/protocol/inference-client'
import { Download, MessageSquare } from 'lucide-react'
import { Glyph } from '../../fish/fish.tsx'
import { useObservable } from '../../use-observable.ts'
import { FaultNotice } from '../messages/models-problem.tsx'
import type { ModelStore } from './model-store.ts'
import { PullProgress } from './pull-progress.tsx'

type Props = {
  model: RegistryModel
  /** The registry's URL. */
  registry: string
  store: ModelStore
  onChat: (id: string) => void
}

/** A model in a registry. Its button pulls the best-fitting file, or starts a chat if a file is already installed. */
export function FoundModel({ model, registry, store, onChat }: Props) {
  const { name, display_name, description, fits, min_file_size_bytes } = model
  const reference = `${registry}/${name}`
  const pull = useObservable(store.pulls).get(reference)
  const isRunning = pull?.state === 'starting' || pull?.state === 'running'
  const chatId = pull?.state === 'done' ? (pull.id ?? name) : (model.local_model ?? undefined)
  return (
    <li className="flex flex-wrap gap-4 border-line border-t py-4">
      <Glyph name={name} parameters={model.parameter_count} />
      <div className="min-w-0 flex-1">
        <h3 dir="auto" className="break-words font-semibold text-[16px]">
          {display_name}
        </h3>
        {description && (
          <p dir="auto" className="mt-0.5 line-clamp-2 break-words text-[15px] text-ink-2">
            {description}
          </p>
        )}
        <Facts model={model} />
      </div>
      {chatId !== undefined && (
        <button type="button" className="ctl-ink h-9 text-[14px]" onClick={() => onChat(chatId)}>
          <MessageSquare size={16} aria-hidden />
          Chat
        </button>
      )}
      {!isRunning && chatId === undefined && (
        <button
          type="button"
          className="ctl h-9 text-[14px]"
          aria-label={`Pull ${name}`}
          disabled={fits === false || min_file_size_bytes === null}
          onClick={() => void store.pull(reference)}
        >
          <Download size={16} aria-hidden />
          Pull
        </button>
      )}
      {isRunning && (
        <PullProgress name={name} pull={pull} onCancel={() => store.cancel(reference)} />
      )}
      {pull?.state === 'failed' && (
        <div className="w-full" role="alert">
          <FaultNotice fault={pull.fault} />
        </div>
      )}
    </li>
  )
}

function Facts({ model }: { model: RegistryModel }) {
  const { parameter_count, min_memory_bytes, min_file_size_bytes, fits, license } = model
  const size =
    min_file_size_bytes === null ? 'no files yet' : `from ${formatBytes(min_file_size_bytes)}`
  const memory =
    min_memory_bytes === null
      ? null
      : `${fits ? 'runs in' : 'needs'} ${formatMemory(min_memory_bytes)}`
  const facts = [
    `by ${model.owner}`,
    parameter_count === null ? null : formatCount(parameter_count),
    size,
    memory,
    license,
  ].filter((fact) => fact !== null)
  return (
    <p className="spec mt-1.5 flex flex-wrap gap-x-4 gap-y-1">
      {facts.map((fact) => (
        <span key={fact} className="break-words">
          {fact}
        </span>
      ))}
    </p>
  )
}
