import { formatContext } from '@shoal/core/units'
import { changePrefs, contextSizes } from '../prefs.ts'
import { usePrefs } from './use-prefs.ts'

/** The context length for which the memory of files is estimated. */
export function ContextChoice() {
  const { contextTokens } = usePrefs()
  return (
    <label className="inline-flex items-center gap-2.5 text-[15px] text-ink-2">
      Context in tokens
      <select
        className="ctl h-9 font-mono"
        value={contextTokens}
        onChange={({ target }) => changePrefs({ contextTokens: Number(target.value) })}
      >
        {contextSizes.map((size) => (
          <option key={size} value={size}>
            {formatContext(size)}
          </option>
        ))}
      </select>
    </label>
  )
}
