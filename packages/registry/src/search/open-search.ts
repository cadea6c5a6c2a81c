import { closeThread, startThread, type Thread } from '@shoal/threads'
import type { ReaderConfig } from '../database/reader.ts'
import { unavailable } from '../errors.ts'
import type { LabelCount } from './labels.ts'
import type { Found, SearchFilter, SearchQuery, Totals } from './search-index.ts'
import type { SearchMethods } from './search-thread.ts'

/** Searches all models that are in the database when a method is called. */
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

type Options = {
  reader: ReaderConfig
  /** How long a search waits for the index to be loaded. */
  loadTimeoutMs?: number
}

const defaultLoadTimeoutMs = 20_000
const retryAfterSeconds = 5
const closeTimeoutMs = 1_000

/**
 * Runs the search index in a thread. The first search or `load` starts the thread; if the thread has failed, the next
 * search starts another one.
 */
export function openSearch({ reader, loadTimeoutMs = defaultLoadTimeoutMs }: Options): Search {
  let running: { thread: Thread<SearchMethods>; loaded: Promise<void> } | undefined
  let isClosed = false

  function start() {
    const thread = startThread<SearchMethods>('search-thread', import.meta.url, reader)
    const started = { thread, loaded: thread.rpc.call('load') }
    const forget = () => {
      if (running === started) running = undefined
    }
    thread.worker.on('error', forget) // callers that wait for the thread receive the error
    started.loaded.catch(forget)
    return started
  }

  async function loaded(): Promise<Thread<SearchMethods>> {
    if (isClosed) throw unavailable('the registry is shutting down')
    running ??= start()
    const { thread, loaded } = running
    let timer: NodeJS.Timeout | undefined
    const overdue = new Promise<never>((_, reject) => {
      const error = unavailable('the search index is still being loaded', { retryAfterSeconds })
      timer = setTimeout(() => reject(error), loadTimeoutMs)
    })
    await Promise.race([loaded, overdue]).finally(() => clearTimeout(timer))
    return thread
  }

  return {
    find: async (query) => (await loaded()).rpc.call('find', query),
    countLabels: async (filter) => (await loaded()).rpc.call('countLabels', filter),
    total: async (max) => (await loaded()).rpc.call('total', max),
    load: async () => void (await loaded()),
    async close() {
      isClosed = true
      if (running) await closeThread(running.thread, closeTimeoutMs)
    },
  }
}
