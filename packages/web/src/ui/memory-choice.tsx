import { memorySizes } from '../app/prefs.ts'
import { useMemory } from './use-memory.ts'

export function MemoryChoice() {
  const [memoryGb, setMemoryGb] = useMemory()
  return (
    <label className="inline-flex items-center gap-2.5 text-[15px] text-ink-2">
      My machine has
      <select
        className="ctl h-9 font-mono"
        value={memoryGb}
        onChange={({ target }) => setMemoryGb(Number(target.value))}
      >
        {memorySizes.map((size) => (
          <option key={size} value={size}>
            {size} GB
          </option>
        ))}
      </select>
    </label>
  )
}
