import { type FormEvent, useState } from 'react'
import { Logo } from '../fish/fish.tsx'
import { sentence } from './conversation/to-chat-failure.ts'

/** Asks for the daemon's API key, which is stored until the tab is closed. */
export function KeyForm({ reason, onKey }: { reason: string; onKey: (key: string) => void }) {
  const [key, setKey] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    if (key.trim() !== '') onKey(key.trim())
  }
  return (
    <main className="mx-auto grid min-h-dvh w-full max-w-[400px] content-center px-5 py-10">
      <Logo />
      <h1 className="mt-4 font-semibold text-[28px]">API key required</h1>
      <p className="mt-2 text-ink-2">
        Enter the key that was set with SHOAL_API_KEY or --api-key-file when the daemon was started.
        The key is forgotten when you close this tab.
      </p>
      <form className="mt-6" onSubmit={submit}>
        <label htmlFor="key" className="label">
          API key
        </label>
        <input
          id="key"
          type="password"
          className="field font-mono"
          autoComplete="current-password"
          spellCheck={false}
          required
          aria-describedby="key-trouble"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <p id="key-trouble" role="status" className="mt-1.5 text-[14px] text-ink-2">
          {sentence(reason)}
        </p>
        <button type="submit" className="ctl-ink mt-4 w-full">
          Open chat
        </button>
      </form>
    </main>
  )
}
