import { distance } from 'fastest-levenshtein'

/**
 * Returns the most similar name if it is at most three edits away, with at most one edit for every two characters
 * typed.
 */
export function findNearest(names: readonly string[], typed: string): string | undefined {
  const maxEdits = Math.min(3, typed.length / 2)
  return names
    .map((name) => ({ name, edits: distance(name, typed) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((one, other) => one.edits - other.edits)
    .at(0)?.name
}
