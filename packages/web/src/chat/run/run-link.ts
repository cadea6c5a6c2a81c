/** Stores the model in a “Run here” link until the user has decided whether to run it. */
import { findRunText } from '@shoal/core/references'
import { observable } from '../../observable.ts'

export type RunLink = ReturnType<typeof watchRunLink>

/** Maximum number of characters stored. Longer links are invalid. */
const maxKeptLength = 4000

/**
 * Moves the link from the URL to the state of the history entry. After a reload, the user is asked again whether to run
 * the model. The link is not left in the URL, because the user may copy or bookmark the URL.
 */
export function watchRunLink() {
  const text = observable(take())
  return {
    /** The encoded address of the model, which is untrusted; undefined if there is no model to ask the user about. */
    text,
    /** Call this after the URL has changed. Returns whether there is a model to ask the user about. */
    follow(): boolean {
      text.set(take())
      return text.get() !== undefined
    },
    /** Closes the question. `hash` is the URL fragment of the current conversation, or empty. */
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
