import { type FormEvent, useState } from 'react'
import { MemoryChoice } from '../app/memory-choice.tsx'
import { usePrefs } from '../app/use-prefs.ts'
import { changePrefs, originFrom, type Theme, usualDaemon } from '../prefs.ts'
import { Field } from '../ui/field.tsx'

/** Settings that are stored in this browser and apply to every account. */
export function MachineSection() {
  return (
    <div className="grid gap-8 text-[15px] text-ink-2">
      <p>These settings are saved in this browser.</p>
      <div>
        <MemoryChoice />
        <p className="mt-2 text-[14px] text-ink-3">
          Model pages show which files fit in this much memory.
        </p>
      </div>
      <ThemeChoice />
      <DaemonAddress />
      <SlashKey />
    </div>
  )
}

const themes: { theme: Theme | undefined; text: string }[] = [
  { theme: undefined, text: 'Match system' },
  { theme: 'light', text: 'Light' },
  { theme: 'dark', text: 'Dark' },
]

function ThemeChoice() {
  const chosen = usePrefs().theme
  return (
    <fieldset>
      <legend className="label text-ink">Theme</legend>
      {themes.map(({ theme, text }) => (
        <label key={text} className="flex items-center gap-2.5 py-1">
          <input
            type="radio"
            name="theme"
            className="size-4 accent-roe"
            checked={theme === chosen}
            onChange={() => changePrefs({ theme })}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

/** The address that the chat link and the code examples use. */
function DaemonAddress() {
  const { daemon } = usePrefs()
  const [text, setText] = useState(daemon ?? '')
  const [said, setSaid] = useState<{ error?: string; hint?: string }>({})

  function save(event: FormEvent) {
    event.preventDefault()
    const origin = originFrom(text.trim() || usualDaemon)
    if (!origin) return setSaid({ error: 'Enter a web address, such as http://localhost:11434.' })
    changePrefs({ daemon: origin })
    setText(origin)
    setSaid({ hint: 'Saved. The chat link and the code examples now use this address.' })
  }

  return (
    <form onSubmit={save} noValidate>
      <div className="max-w-[400px]">
        <Field
          label="Daemon address"
          className="field font-mono"
          value={text}
          onChange={({ target }) => setText(target.value)}
          placeholder={usualDaemon}
          error={said.error}
          hint={
            <span role="status">
              {said.hint ?? 'The address that shoal serve prints when it starts.'}
            </span>
          }
          autoCapitalize="none"
          spellCheck={false}
          inputMode="url"
        />
      </div>
      <button type="submit" className="ctl mt-3">
        Save
      </button>
    </form>
  )
}

function SlashKey() {
  const { hasSlashKey } = usePrefs()
  return (
    <fieldset>
      <legend className="label text-ink">Keyboard</legend>
      <label className="flex items-center gap-2.5 py-1">
        <input
          type="checkbox"
          className="size-4 accent-roe"
          checked={hasSlashKey}
          onChange={({ target }) => changePrefs({ hasSlashKey: target.checked })}
        />
        Press / to search
      </label>
    </fieldset>
  )
}
