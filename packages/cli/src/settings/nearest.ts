import { distance } from 'fastest-levenshtein'

/** The name that was most likely meant: at most three letters, and half of what was typed, are different. */
export function findNearest(names: readonly string[], typed: string): string | undefined {
  const maxEdits = Math.min(3, typed.length / 2)
  return names
    .map((name) => ({ name, edits: distance(name, typed) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((one, other) => one.edits - other.edits)
    .at(0)?.name
}
