import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useId, useRef } from 'react'
import { Field } from '../ui/field.tsx'
import { actions } from './audit-phrases.ts'
import type { AuditSearch } from './audit-search.ts'

type Props = { filter: AuditSearch; isBusy: boolean; onReload: () => void }

/** The filters of the audit log. They are part of the URL, so that a filtered log can be linked to. */
export function AuditFilter({ filter, isBusy, onReload }: Props) {
  const navigate = useNavigate()
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const { actor = '', action = '', subject = '' } = filter
  const filterBy = (search: AuditSearch) => navigate({ to: '.', search, resetScroll: false })

  // When the filter changes, update the fields instead of replacing them, so that the focus is kept.
  useEffect(() => {
    for (const [name, value] of Object.entries({ actor, action, subject })) {
      const field = form.current?.elements.namedItem(name)
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
        field.value = value
    }
  }, [actor, action, subject])

  function clear() {
    filterBy({})
    form.current?.querySelector('input')?.focus() // because the button that has the focus disappears
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const filled = [...new FormData(event.currentTarget)]
      .map(([name, value]) => [name, String(value).trim()])
      .filter(([, value]) => value)
    filterBy(Object.fromEntries(filled))
  }

  return (
    <form
      ref={form}
      aria-label="Filter"
      className="mb-6 grid items-end gap-x-4 gap-y-3 sm:grid-cols-4"
      onSubmit={submit}
    >
      <Field
        label="Actor"
        name="actor"
        placeholder="Username"
        defaultValue={actor}
        maxLength={64}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
      <div>
        <label className="label" htmlFor={id}>
          Action
        </label>
        <select
          id={id}
          name="action"
          className="ctl w-full font-mono text-[14px]"
          defaultValue={action}
        >
          <option value="">All</option>
          {actions.map((action) => (
            <option key={action} value={action}>
              {action}
            </option>
          ))}
        </select>
      </div>
      <Field
        label="Subject"
        name="subject"
        placeholder="Username, model or file"
        defaultValue={subject}
        maxLength={300}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
      <div className="flex flex-wrap gap-3">
        <button type="submit" className="ctl-ink">
          Filter
        </button>
        {Object.keys(filter).length > 0 && (
          <button type="button" className="ctl" onClick={clear}>
            Clear
          </button>
        )}
        <button type="button" className="ctl" disabled={isBusy} onClick={onReload}>
          Reload
        </button>
      </div>
    </form>
  )
}
