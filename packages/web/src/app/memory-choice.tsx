import { changePrefs, memorySizes } from '../prefs.ts'
import { usePrefs } from './use-prefs.ts'

export function MemoryChoice() {
  const { memoryGb } = usePrefs()
  return (
    <label className="inline-flex items-center gap-2.5 text-[15px] text-ink-2">
      My machine’s memory
      <select
        className="ctl h-9 font-mono"
        value={memoryGb}
        onChange={({ target }) => changePrefs({ memoryGb: Number(target.value) })}
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
