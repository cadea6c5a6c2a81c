import { closeThread, startThread, type Thread } from '@shoal/threads'
import type { ReaderConfig } from '../database/reader.ts'
import { unavailable } from '../errors.ts'
import type { LabelCount } from './labels.ts'
import type { Found, SearchFilter, SearchQuery, Totals } from './search-index.ts'
import type { SearchMethods } from './search-thread.ts'

/** Searches the models. Each call takes into account all models that are in the database at that time. */
export interface Search {
  /** Returns one page of the matching models, and the total number of matches. */
  find(query: SearchQuery): Promise<Found>
  /** Counts how many of the matching models have each label. */
  countLabels(filter: SearchFilter): Promise<LabelCount[]>
  /** Returns totals of the public models, and the parameter counts of the most downloaded public models. */
  total(maxParameterCounts: number): Promise<Totals>
  /** Loads the index ahead of the first search, which would otherwise have to wait for it. */
  load(): Promise<void>
  close(): Promise<void>
}

/** How long a search waits for the index to be loaded. */
const loadTimeoutMs = 20_000
const retryAfterSeconds = 5
const closeTimeoutMs = 1_000

/**
 * Runs the search index in a thread. The first search or `load` starts the thread; if the thread has exited with an
 * error, the next search starts another one.
 */
export function openSearch(reader: ReaderConfig): Search {
  let thread: Thread<SearchMethods> | undefined
  /** Resolves when the index has been loaded. Undefined if loading has failed, or has not begun. */
  let loading: Promise<void> | undefined
  let isClosed = false

  function start(): Thread<SearchMethods> {
    const started = startThread<SearchMethods>('search-thread', import.meta.url, reader)
    // Callers that wait for the thread receive the error.
    started.worker.on('error', () => {
      if (thread === started) thread = loading = undefined
    })
    return started
  }

  async function load(): Promise<Thread<SearchMethods>> {
    if (isClosed) throw unavailable('the registry is shutting down')
    thread ??= start()
    const current = thread
    if (!loading) {
      const begun = current.rpc.call('load')
      loading = begun
      begun.catch(() => {
        if (loading === begun) loading = undefined
      })
    }
    await loading
    return current
  }

  async function loaded(): Promise<Thread<SearchMethods>> {
    let timer: NodeJS.Timeout | undefined
    const overdue = new Promise<never>((_, reject) => {
      const error = unavailable('the search index is still being loaded', { retryAfterSeconds })
      timer = setTimeout(() => reject(error), loadTimeoutMs)
    })
    return Promise.race([load(), overdue]).finally(() => clearTimeout(timer))
  }

  return {
    find: async (query) => (await loaded()).rpc.call('find', query),
    countLabels: async (filter) => (await loaded()).rpc.call('countLabels', filter),
    total: async (max) => (await loaded()).rpc.call('total', max),
    load: async () => void (await load()),
    async close() {
      isClosed = true
      if (thread) await closeThread(thread, closeTimeoutMs)
    },
  }
}
