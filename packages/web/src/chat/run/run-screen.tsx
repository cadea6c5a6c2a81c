import { decodeRunTarget } from '@shoal/core/references'
import { type ReactNode, useEffect, useRef } from 'react'
import { FaultNotice } from '../messages/models-problem.tsx'
import type { ModelStore } from '../models/model-store.ts'
import { toRegistryFailure } from '../models/to-registry-failure.ts'
import { useAnswer } from '../models/use-answer.ts'
import { RunQuestion } from './run-question.tsx'

type Props = {
  /** The encoded address of the model in the link. */
  text: string
  store: ModelStore
  onChat: (id: string) => void
  onClose: () => void
}

/**
 * Asks whether to run the model in a “Run here” link. Any page can contain such a link, so nothing is sent to a
 * registry until the user agrees. Until then, this page only requests the list of known registries from the daemon.
 */
export function RunScreen({ text, store, onChat, onClose }: Props) {
  const target = decodeRunTarget(text)
  const registries = useAnswer('', store.listRegistries)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  if (target === undefined) {
    return (
      <Frame>
        <h1 ref={heading} tabIndex={-1} className="font-semibold text-[30px]">
          This link cannot be used
        </h1>
        <p className="mt-3 text-ink-2">
          The link that opened this page does not contain the address of a model, such as{' '}
          <code className="break-all font-mono text-[14px]">http://localhost:8000/tide:Q8_0</code>.
          Nothing has been sent or downloaded.
        </p>
        <button type="button" className="ctl-ink mt-6" onClick={onClose}>
          Go to the chat
        </button>
      </Frame>
    )
  }
  return (
    <Frame>
      <h1 ref={heading} tabIndex={-1} className="break-words font-semibold text-[30px]">
        Run {target.name}?
      </h1>
      {registries.error !== undefined && (
        <div className="mt-4">
          <FaultNotice fault={toRegistryFailure(registries.error, undefined)} />
        </div>
      )}
      {registries.value && (
        <RunQuestion
          target={target}
          known={registries.value.find(({ address }) => address === target.registry)}
          store={store}
          onChat={onChat}
          onClose={onClose}
        />
      )}
      {!registries.value && (
        <button type="button" className="ctl mt-6" onClick={onClose}>
          Cancel
        </button>
      )}
    </Frame>
  )
}

const Frame = ({ children }: { children: ReactNode }) => (
  <main className="min-h-0 overflow-y-auto">
    <div className="mx-auto w-full max-w-[46rem] px-4 py-10 sm:px-6">{children}</div>
  </main>
)
