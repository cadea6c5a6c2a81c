/** The model that a “Run here” link names, until the user has answered the question about it. */
import { findRunText } from '@shoal/core/references'
import { observable } from '../../observable.ts'

export type RunLink = ReturnType<typeof watchRunLink>

/** Longer texts are invalid anyway. */
const maxKeptLength = 4000

/**
 * Moves the link from the URL to the state of the history entry. There it survives a reload, so that the question is
 * asked again, but it is not part of the address, which the user may copy or which may be opened again later.
 */
export function watchRunLink() {
  const text = observable(take())
  return {
    /** The encoded address of the model, which is not trusted. Undefined if there is no question. */
    text,
    /** Call this after the URL has changed. Returns whether there is a question. */
    follow(): boolean {
      text.set(take())
      return text.get() !== undefined
    },
    /** Ends the question. `hash` is that of the current conversation, or empty. */
    close(hash: string) {
      history.replaceState(null, '', location.pathname + hash)
      text.set(undefined)
    },
  }
}

function take(): string | undefined {
  const found = findRunText(location.hash)
  if (found !== undefined) {
    history.replaceState({ run: found.slice(0, maxKeptLength) }, '', location.pathname)
  }
  const { run } = Object(history.state) as { run?: unknown }
  return typeof run === 'string' ? run : undefined
}
