import { type Conversation, newId } from '../conversation/conversation.ts'
import type { ChatHistory } from './history.ts'

type Save = ChatHistory['save']

/**
 * Saves conversations one after another, in the order of the calls. `onKept` receives the ID of the given conversation
 * and the saved conversation. The saved one has a new ID if another tab has changed the original, and is undefined if
 * another tab has deleted the conversation.
 */
export function keeper(save: Save, onKept: (id: string, kept: Conversation | undefined) => void) {
  const revisions = new Map<string, number>()
  const copies = new Map<string, string>()
  let last: Promise<void> = Promise.resolve()

  async function keepNow(conversation: Conversation) {
    const id = copies.get(conversation.id) ?? conversation.id
    const revision = revisions.get(id) ?? conversation.revision
    const kept = await save({ ...conversation, id, revision }, `chat-${newId()}`)
    if (kept) {
      revisions.set(kept.id, kept.revision)
      if (kept.id !== id) copies.set(id, kept.id)
    }
    onKept(conversation.id, kept)
  }

  return {
    keep(conversation: Conversation): Promise<void> {
      const kept = last.then(() => keepNow(conversation))
      last = kept.catch(() => undefined) // the caller of `keep` gets the error
      return kept
    },

    /** Call this after reading a conversation from the history, so that the next save continues from its revision. */
    began({ id, revision }: Conversation) {
      revisions.set(id, revision)
      copies.delete(id)
    },

    /** Resolves when all saves have completed or failed. */
    settled: () => last,
  }
}
