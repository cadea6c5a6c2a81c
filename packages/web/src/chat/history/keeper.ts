import { type Conversation, newId } from '../conversation/conversation.ts'
import type { ChatHistory } from './history.ts'

type Save = ChatHistory['save']

/**
 * Keeps a conversation as it grows: one save after the other, each on top of the last. `onKept` has what was kept, under
 * another id where another tab had changed the first; undefined where it was deleted there.
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
      last = kept.catch(() => undefined) // told to who asked for it
      return kept
    },

    /** What was read from the history is where the next save begins. */
    began({ id, revision }: Conversation) {
      revisions.set(id, revision)
      copies.delete(id)
    },

    /** Once all that was asked for is kept. */
    settled: () => last,
  }
}
