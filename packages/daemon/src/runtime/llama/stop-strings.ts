import { partialLength } from '../chat/formats/markers.ts'

/**
 * Takes text as it is generated, and outputs it as soon as it can no longer be part of a stop string. After a stop
 * string has been found, `isStopped` returns true, and neither the stop string nor the text after it is output.
 */
export function stopStrings(stops: readonly string[]) {
  const wanted = stops.filter((stop) => stop !== '')
  let held = ''
  let isStopped = false
  let found: string | undefined

  return {
    isStopped: () => isStopped,
    /** The stop string that ended the text, if one did. */
    found: () => found,

    take(text: string): string {
      if (isStopped) return ''
      held += text
      const places = wanted
        .map((stop) => ({ stop, place: held.indexOf(stop) }))
        .filter(({ place }) => place !== -1)
        .sort((a, b) => a.place - b.place)
      const [first] = places
      if (first) {
        isStopped = true
        found = first.stop
        const before = held.slice(0, first.place)
        held = ''
        return before
      }
      const keep = partialLength(held, wanted)
      const free = held.slice(0, held.length - keep)
      held = held.slice(held.length - keep)
      return free
    },

    /** Call this at the end of the answer. Returns the text that has been held back. */
    finish(): string {
      const rest = held
      held = ''
      return rest
    },
  }
}
