import { useState } from 'react'
import { useApp } from '../api/context.ts'
import { type DraftKey, forgetDraft, keepDraft, readDraft } from './draft-store.ts'

export type Draft<Values extends object> = {
  /** The fields that the visitor has changed. */
  changes: Partial<Values>
  /** Whether some of the changes were made on an earlier visit. */
  isRestored: boolean
  /** Whether the changes are stored, so that leaving the page does not lose them. */
  isKept: boolean
  /** Replaces the changes in the form and in the store. */
  set: (changes: Partial<Values>) => void
  clear: () => void
}

/**
 * Returns the visitor's changes to a form. They are stored after each change, and restored on the next visit. `fields`
 * contains a value of the right type for each field. Stored values are ignored if they have another type or belong to
 * an unknown field.
 */
export function useDraft<Values extends object>(key: DraftKey, fields: Values): Draft<Values> {
  const isPrinted = useApp().head !== undefined // a server has no drafts
  const [restored] = useState(() => (isPrinted ? {} : pickFields(readDraft(key), fields)))
  const [state, setState] = useState({
    changes: restored,
    isRestored: isNotEmpty(restored),
    isKept: true,
  })

  function set(changes: Partial<Values>) {
    const isChanged = isNotEmpty(changes)
    if (!isChanged) forgetDraft(key)
    setState({
      changes,
      isRestored: state.isRestored && isChanged,
      isKept: !isChanged || keepDraft(key, changes),
    })
  }

  return { ...state, set, clear: () => set({}) }
}

const isNotEmpty = (changes: object) => Object.keys(changes).length > 0

function pickFields<Values extends object>(
  stored: Record<string, unknown> = {},
  fields: Values,
): Partial<Values> {
  const types = new Map(Object.entries(fields).map(([name, value]) => [name, typeof value]))
  const known = Object.entries(stored).filter(([name, value]) => types.get(name) === typeof value)
  return Object.fromEntries(known) as Partial<Values>
}
