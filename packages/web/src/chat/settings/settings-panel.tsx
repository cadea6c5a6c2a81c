import { SlidersHorizontal } from 'lucide-react'
import { useId } from 'react'
import type { Settings, SomeSettings } from '../conversation/conversation.ts'

type Props = { settings: Settings; onChange: (some: SomeSettings) => void; onDone: () => void }

type NumberName = 'temperature' | 'topP' | 'maxTokens' | 'seed'
const numbers: {
  name: NumberName
  label: string
  hint: string
  /** Attributes of the HTML input. */
  range: { min?: number; max?: number; step: number }
  usual: string
}[] = [
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 to 2; higher is more random',
    range: { min: 0, max: 2, step: 0.1 },
    usual: '0.8',
  },
  {
    name: 'topP',
    label: 'Top P',
    hint: '0 to 1; lower is more focused',
    range: { min: 0, max: 1, step: 0.05 },
    usual: '0.95',
  },
  {
    name: 'maxTokens',
    label: 'Max tokens',
    hint: 'Per answer',
    range: { min: 1, step: 1 },
    usual: 'no limit',
  },
  {
    name: 'seed',
    label: 'Seed',
    hint: 'For reproducible answers',
    range: { min: 0, step: 1 },
    usual: 'random',
  },
]

export function SettingsPanel({ settings, onChange, onDone }: Props) {
  const id = useId()
  const summary = formatSummary(settings)
  return (
    <>
      <button
        type="button"
        className="ctl max-sm:border-0 max-sm:bg-transparent max-sm:px-2.5 max-sm:text-ink-2"
        aria-label={`Parameters${summary && `: ${summary}`}`}
        title="Parameters"
        popoverTarget={id}
      >
        <SlidersHorizontal size={18} aria-hidden />
        <span className="hidden max-w-64 truncate text-ink-2 sm:inline">
          {summary || 'Parameters'}
        </span>
      </button>
      <section
        id={id}
        popover="auto"
        aria-label="Parameters for this chat"
        className="pop inset-x-auto top-[4.25rem] right-3 max-h-[calc(100dvh-5rem)] w-[23rem] max-w-[calc(100vw-1.5rem)] overflow-y-auto p-5 sm:right-5"
        onToggle={({ newState }) => newState === 'closed' && onDone()}
      >
        <h2 className="font-semibold text-[18px]">Parameters for this chat</h2>
        <label htmlFor={`${id}-system`} className="label mt-4">
          System prompt
        </label>
        <textarea
          id={`${id}-system`}
          className="field"
          rows={4}
          placeholder="You are a marine biologist who answers in one sentence."
          value={settings.system}
          onChange={({ target }) => onChange({ system: target.value })}
        />
        <div className="mt-4 grid grid-cols-2 gap-x-4 gap-y-4">
          {numbers.map((field) => (
            <NumberField
              key={field.name}
              {...field}
              value={settings[field.name]}
              onChange={(value) => onChange({ [field.name]: value })}
            />
          ))}
        </div>
        <p className="mt-4 text-[13px] text-ink-3">Empty fields use the daemon’s defaults.</p>
      </section>
    </>
  )
}

type NumberFieldProps = (typeof numbers)[number] & {
  value: number | undefined
  onChange: (value: number | undefined) => void
}

/**
 * A field that keeps the text as typed. Calls `onChange` with the number, or with undefined if the text is empty or
 * invalid.
 */
function NumberField({ label, hint, range, usual, value, onChange }: NumberFieldProps) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id} className="label">
        {label}
      </label>
      <input
        id={id}
        type="number"
        inputMode="decimal"
        className="field tabular-nums user-invalid:border-roe-ink"
        {...range}
        step={range.step === 1 ? 1 : 'any'}
        defaultValue={value}
        placeholder={usual}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) =>
          onChange(target.validity.valid && target.value !== '' ? target.valueAsNumber : undefined)
        }
      />
      <p id={`${id}-hint`} className="mt-1 text-[13px] text-ink-3">
        {hint}
      </p>
    </div>
  )
}

function formatSummary({ system, temperature, topP, maxTokens, seed }: Settings): string {
  return [
    system.trim() && 'system prompt',
    temperature !== undefined && `temperature ${temperature}`,
    topP !== undefined && `top P ${topP}`,
    maxTokens !== undefined && `max tokens ${maxTokens}`,
    seed !== undefined && `seed ${seed}`,
  ]
    .filter(Boolean)
    .join(', ')
}
