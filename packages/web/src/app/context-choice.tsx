import { formatContext } from '@shoal/core/units'
import { changePrefs, contextSizes } from '../prefs.ts'
import { usePrefs } from './use-prefs.ts'

/** Lets the visitor choose the context length for which the memory use of files is estimated. */
export function ContextChoice() {
  const { contextTokens } = usePrefs()
  return (
    <ContextSelect
      label="Context in tokens"
      value={contextTokens}
      onChoose={(tokens) => changePrefs({ contextTokens: tokens })}
    />
  )
}

type SelectProps = { label: string; value: number; onChoose(tokens: number): void }

export function ContextSelect({ label, value, onChoose }: SelectProps) {
  return (
    <label className="inline-flex items-center gap-2.5 text-[15px] text-ink-2">
      {label}
      <select
        className="ctl h-9 font-mono"
        value={value}
        onChange={({ target }) => onChoose(Number(target.value))}
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
