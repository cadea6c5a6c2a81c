import { formatBytes } from '@shoal/core/units'
import type { ListedModel } from '@shoal/protocol/inference-client'
import { MessageSquare, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { Glyph } from '../../fish/fish.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Name } from '../../ui/name.tsx'
import { useObservable } from '../../use-observable.ts'
import { FaultNotice } from '../messages/models-problem.tsx'
import type { ModelStore } from './model-store.ts'
import { toRegistryFailure } from './to-registry-failure.ts'
import { useAnswer } from './use-answer.ts'

type Props = { store: ModelStore; onChat: (id: string) => void }

/** Removes the tag `:latest`, which Ollama clients expect but this page does not show. */
const toId = ({ name }: ListedModel) => name.replace(/:latest$/, '')

export function InstalledModels({ store, onChat }: Props) {
  const removals = useObservable(store.removals)
  const done = [...useObservable(store.pulls).values()].filter(
    ({ state }) => state === 'done',
  ).length
  const { value: models, error } = useAnswer(`${removals} ${done}`, store.listInstalled)
  const [removing, setRemoving] = useState<string>()
  const [problem, setProblem] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)

  async function remove(id: string) {
    setBusy(true)
    try {
      await store.remove(id)
      dialog.current?.close()
    } catch (caught) {
      setProblem(caught as Error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <section aria-labelledby="installed" className="mt-8">
      <h2 id="installed" className="font-semibold text-[20px]">
        On this machine
      </h2>
      {error !== undefined && (
        <div className="mt-3">
          <FaultNotice fault={toRegistryFailure(error, undefined)} />
        </div>
      )}
      {!(models || error) && <div className="skeleton mt-3 h-16" aria-busy="true" />}
      {models?.length === 0 && (
        <p className="mt-2 text-ink-2">No models yet. Search a registry below, and pull a model.</p>
      )}
      <ul className="mt-3">
        {models?.map((model) => (
          <InstalledModel
            key={model.name}
            model={model}
            onChat={onChat}
            onRemove={() => {
              setProblem(undefined)
              setRemoving(toId(model))
              dialog.current?.showModal()
            }}
          />
        ))}
      </ul>
      <ConfirmDialog
        dialog={dialog}
        title={`Remove ${removing}?`}
        action="Remove"
        isBusy={isBusy}
        error={problem ?? null}
        onConfirm={() => removing !== undefined && void remove(removing)}
      >
        The model’s files are deleted from this machine. If the model was imported from another
        program, the original files are kept.
      </ConfirmDialog>
    </section>
  )
}

type RowProps = { model: ListedModel; onChat: (id: string) => void; onRemove: () => void }

function InstalledModel({ model, onChat, onRemove }: RowProps) {
  const id = toId(model)
  const { quantization_level, parameter_size } = model.details
  const facts = [parameter_size, quantization_level, formatBytes(model.size)].filter(Boolean)
  return (
    <li className="flex items-center gap-4 border-line border-t py-3">
      <Glyph name={id.replace(/:[^/]*$/, '')} parameters={null} />
      <div className="min-w-0 flex-1">
        <h3 className="break-all font-medium font-mono text-[15px]">
          <Name text={id} />
        </h3>
        <p className="spec mt-0.5 flex flex-wrap gap-x-4">
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      </div>
      {model.capabilities?.includes('completion') && (
        <button
          type="button"
          className="ctl h-9 shrink-0 text-[14px]"
          aria-label={`Chat with ${id}`}
          onClick={() => onChat(id)}
        >
          <MessageSquare size={16} aria-hidden />
          Chat
        </button>
      )}
      <button
        type="button"
        className="ctl-quiet shrink-0"
        aria-label={`Remove ${id}`}
        title={`Remove ${id}`}
        onClick={onRemove}
      >
        <Trash2 size={18} aria-hidden />
      </button>
    </li>
  )
}
