import { chatAddress } from '../app/header.tsx'
import { MemoryChoice } from '../ui/memory-choice.tsx'

export function MachineSection() {
  return (
    <div className="grid gap-6 text-[15px] text-ink-2">
      <div>
        <MemoryChoice />
        <p className="mt-2 text-[14px] text-ink-3">
          What fits is marked by this. It stays in this browser.
        </p>
      </div>
      <p>
        Models answer on your own machine, at{' '}
        <a href={chatAddress} className="link font-mono text-[14px]">
          {chatAddress}
        </a>
        , while <code className="font-mono text-[14px]">shoal serve</code> runs there.
      </p>
    </div>
  )
}
