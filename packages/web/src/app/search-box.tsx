import { useNavigate, useSearch } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { usePrefs } from './use-prefs.ts'

const pauseMs = 150

/** The search box on every page. It searches while the visitor types. Without scripts, it is a plain form. */
export function SearchBox() {
  const navigate = useNavigate()
  const { q = '' } = useSearch({ strict: false })
  const [text, setText] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined)
  /**
   * Search terms that were submitted but are not in the URL yet. When they appear in the URL, they must not overwrite
   * what the visitor has typed since.
   */
  const begun = useRef(new Set<string>())
  useEffect(() => {
    if (!begun.current.delete(q)) setText(q)
  }, [q])
  const { hasSlashKey } = usePrefs()
  useSlashKey(hasSlashKey, () => input.current?.focus())

  function search(words: string) {
    clearTimeout(pause.current)
    const trimmed = words.trim()
    if (trimmed !== q) begun.current.add(trimmed)
    navigate({
      to: '/',
      search: ({ page: _, q: __, ...others }) => ({ ...others, ...(trimmed && { q: trimmed }) }),
      replace: location.pathname === '/',
    })
  }

  function type(words: string) {
    setText(words)
    clearTimeout(pause.current)
    pause.current = setTimeout(search, pauseMs, words)
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    if (location.pathname !== '/') input.current?.blur() // the heading of the results receives the focus
    search(text)
  }

  return (
    <search className="min-w-0 max-w-xl flex-1">
      <form action="/" onSubmit={submit}>
        <label className="relative block">
          <span className="sr-only">Search models</span>
          <Search
            size={17}
            aria-hidden
            className="absolute top-1/2 left-3 -translate-y-1/2 text-ink-3"
          />
          <input
            ref={input}
            type="search"
            name="q"
            value={text}
            onChange={({ target }) => type(target.value)}
            placeholder="Search models"
            autoComplete="off"
            spellCheck={false}
            className="field text-ellipsis pr-2 pl-9 sm:pr-10"
          />
          {hasSlashKey && text === '' && (
            <span
              aria-hidden="true"
              className="absolute top-1/2 right-2.5 hidden -translate-y-1/2 rounded border border-line px-1.5 font-mono text-[12px] text-ink-3 sm:block"
            >
              /
            </span>
          )}
        </label>
      </form>
    </search>
  )
}

function useSlashKey(isOn: boolean, act: () => void) {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (!isOn) return undefined
    const onKey = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn])
}
