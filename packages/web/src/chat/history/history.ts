/** The conversations of this browser, in IndexedDB. Nothing of them is anywhere else. */
import type { Conversation } from '../conversation/conversation.ts'

export type Entry = Pick<Conversation, 'id' | 'title' | 'changedAt'>
/** What changed; no `id`: everything went. */
export type Change = { kind: 'saved' | 'deleted'; id?: string }

export type ChatHistory = Awaited<ReturnType<typeof openHistory>>

/** Two stores, so that a list of titles does not read every word that was ever said. */
const entries = 'entries'
const conversations = 'conversations'
const version = 1

/** `onChange`: another tab did something. */
export async function openHistory(onChange: (change: Change) => void, name = 'shoal-chat') {
  const database = await open(name)
  const tabs = new BroadcastChannel(name)
  tabs.onmessage = ({ data }: MessageEvent<Change>) => onChange(data)
  // A later version of this page wants to change the stores.
  database.onversionchange = () => database.close()

  function write<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    return transact(database, 'readwrite', work)
  }

  return {
    /** The newest first. */
    async list(): Promise<Entry[]> {
      const all = await transact(database, 'readonly', (stores) =>
        settled<Entry[]>(stores.entries.getAll()),
      )
      return all.toSorted((a, b) => b.changedAt - a.changedAt)
    },

    find: (id: string): Promise<Conversation | undefined> =>
      transact(database, 'readonly', (stores) => settled(stores.conversations.get(id))),

    /**
     * Gives back what was kept. Where another tab has kept something else meanwhile, both are: this one under another id. What
     * another tab deleted stays deleted: undefined.
     */
    async save(conversation: Conversation, idOfCopy: string): Promise<Conversation | undefined> {
      const kept = await write(async (stores) => {
        const { revision } = conversation
        const there = await settled<Conversation | undefined>(
          stores.conversations.get(conversation.id),
        )
        if (!there && revision > 0) return undefined
        const isChanged = there !== undefined && there.revision !== revision
        const id = isChanged ? idOfCopy : conversation.id
        const next = { ...conversation, id, revision: isChanged ? 1 : revision + 1 }
        put(stores, next)
        return next
      })
      if (kept) tabs.postMessage({ kind: 'saved', id: kept.id } satisfies Change)
      return kept
    },

    /** Undefined where it is gone. */
    async rename(id: string, title: string): Promise<Conversation | undefined> {
      const renamed = await write(async (stores) => {
        const there = await settled<Conversation | undefined>(stores.conversations.get(id))
        if (!there) return undefined
        const next = { ...there, title, revision: there.revision + 1 }
        put(stores, next)
        return next
      })
      tabs.postMessage({ kind: 'saved', id } satisfies Change)
      return renamed
    },

    async delete(id: string): Promise<void> {
      await write(async (stores) => {
        stores.entries.delete(id)
        stores.conversations.delete(id)
      })
      tabs.postMessage({ kind: 'deleted', id } satisfies Change)
    },

    async deleteAll(): Promise<void> {
      await write(async (stores) => {
        stores.entries.clear()
        stores.conversations.clear()
      })
      tabs.postMessage({ kind: 'deleted' } satisfies Change)
    },
  }
}

type Stores = { entries: IDBObjectStore; conversations: IDBObjectStore }

function put(stores: Stores, conversation: Conversation) {
  const { id, title, changedAt } = conversation
  stores.entries.put({ id, title, changedAt } satisfies Entry)
  stores.conversations.put(conversation)
  stores.conversations.transaction.commit() // the page may be left any moment
}

async function open(name: string): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, version)
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(entries, { keyPath: 'id' })
    opening.result.createObjectStore(conversations, { keyPath: 'id' })
  }
  return settled(opening)
}

/** Both stores change together or not at all. */
async function transact<T>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const transaction = database.transaction([entries, conversations], mode)
  const over = Promise.withResolvers<void>()
  transaction.oncomplete = () => over.resolve()
  transaction.onabort = () => over.reject(transaction.error ?? new Error('not kept'))
  const [result] = await Promise.all([
    work({
      entries: transaction.objectStore(entries),
      conversations: transaction.objectStore(conversations),
    }),
    over.promise,
  ])
  return result
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
  return promise
}
