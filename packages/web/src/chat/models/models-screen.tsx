import { ArrowLeft } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { InstalledModels } from './installed-models.tsx'
import type { ModelStore } from './model-store.ts'
import { RegistrySearch } from './registry-search.tsx'

type Props = { store: ModelStore; onChat: (id: string) => void; onClose: () => void }

/** The models on this machine, and a search for more. */
export function ModelsScreen({ store, onChat, onClose }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <main className="min-h-0 overflow-y-auto">
      <div className="mx-auto w-full max-w-[46rem] px-4 py-10 sm:px-6">
        <button type="button" className="ctl h-9 text-[14px]" onClick={onClose}>
          <ArrowLeft size={16} aria-hidden />
          Back to chat
        </button>
        <h1 ref={heading} tabIndex={-1} className="mt-6 font-semibold text-[30px]">
          Models
        </h1>
        <InstalledModels store={store} onChat={onChat} />
        <RegistrySearch store={store} onChat={onChat} />
      </div>
    </main>
  )
}
