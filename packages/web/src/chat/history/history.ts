/** Stores conversations in the browser's IndexedDB. They are stored nowhere else. */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb'
import type { Conversation } from '../conversation/conversation.ts'

export type Entry = Pick<Conversation, 'id' | 'title' | 'changedAt'>
/** A change to the history. Without an `id`, all conversations were deleted. */
export type Change = { kind: 'saved' | 'deleted'; id?: string }

export type ChatHistory = Awaited<ReturnType<typeof openHistory>>

/** There are two stores, so that the titles can be listed without reading all messages. */
interface Schema extends DBSchema {
  entries: { key: string; value: Entry }
  conversations: { key: string; value: Conversation }
}

const version = 1

/** Opens the history. Calls `onChange` for changes made in other tabs. Rejects if the browser has no IndexedDB. */
export async function openHistory(onChange: (change: Change) => void, name = 'shoal-chat') {
  const database = await open(name)
  const tabs = new BroadcastChannel(name)
  tabs.onmessage = ({ data }: MessageEvent<Change>) => onChange(data)
  // Let a newer version of this page, in another tab, upgrade the database.
  database.onversionchange = () => database.close()

  /** Changes both stores in one transaction. */
  async function write<T>(work: (transaction: Writing) => Promise<T>): Promise<T> {
    const stores: Stores = ['entries', 'conversations']
    const transaction = database.transaction(stores, 'readwrite')
    const [result] = await Promise.all([work(transaction), transaction.done])
    return result
  }

  return {
    /** Lists all conversations, the most recently changed first. */
    async list(): Promise<Entry[]> {
      const all = await database.getAll('entries')
      return all.toSorted((a, b) => b.changedAt - a.changedAt)
    },

    find: (id: string): Promise<Conversation | undefined> => database.get('conversations', id),

    /**
     * Saves a conversation, and returns it as saved. If another tab has saved a different version in the meantime, both
     * versions are kept, and this one gets the ID `idOfCopy`. Returns undefined if another tab has deleted the
     * conversation.
     */
    async save(conversation: Conversation, idOfCopy: string): Promise<Conversation | undefined> {
      const kept = await write(async (transaction) => {
        const { revision } = conversation
        const there = await transaction.objectStore('conversations').get(conversation.id)
        if (!there && revision > 0) return undefined
        const isChanged = there !== undefined && there.revision !== revision
        const id = isChanged ? idOfCopy : conversation.id
        const next = { ...conversation, id, revision: isChanged ? 1 : revision + 1 }
        await put(transaction, next)
        return next
      })
      if (kept) tabs.postMessage({ kind: 'saved', id: kept.id } satisfies Change)
      return kept
    },

    /** Renames a conversation. Returns undefined if the conversation no longer exists. */
    async rename(id: string, title: string): Promise<Conversation | undefined> {
      const renamed = await write(async (transaction) => {
        const there = await transaction.objectStore('conversations').get(id)
        if (!there) return undefined
        const next = { ...there, title, revision: there.revision + 1 }
        await put(transaction, next)
        return next
      })
      if (renamed) tabs.postMessage({ kind: 'saved', id } satisfies Change)
      return renamed
    },

    async delete(id: string): Promise<void> {
      await write((transaction) =>
        Promise.all([
          transaction.objectStore('entries').delete(id),
          transaction.objectStore('conversations').delete(id),
        ]),
      )
      tabs.postMessage({ kind: 'deleted', id } satisfies Change)
    },

    async deleteAll(): Promise<void> {
      await write((transaction) =>
        Promise.all([
          transaction.objectStore('entries').clear(),
          transaction.objectStore('conversations').clear(),
        ]),
      )
      tabs.postMessage({ kind: 'deleted' } satisfies Change)
    },
  }
}

type Stores = ['entries', 'conversations']
type Writing = IDBPTransaction<Schema, Stores, 'readwrite'>

async function put(transaction: Writing, conversation: Conversation): Promise<void> {
  const { id, title, changedAt } = conversation
  const puts = [
    transaction.objectStore('entries').put({ id, title, changedAt }),
    transaction.objectStore('conversations').put(conversation),
  ]
  transaction.commit() // commits now, because the page may be closed at any moment
  await Promise.all(puts)
}

const open = (name: string): Promise<IDBPDatabase<Schema>> =>
  openDB<Schema>(name, version, {
    upgrade(created) {
      created.createObjectStore('entries', { keyPath: 'id' })
      created.createObjectStore('conversations', { keyPath: 'id' })
    },
  })
