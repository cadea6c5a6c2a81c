import { closeThread, startThread, type Thread } from '@shoal/threads'
import type { ReaderConfig } from '../database/reader.ts'
import { unavailable } from '../errors.ts'
import type { LabelCount } from './labels.ts'
import type { Found, SearchFilter, SearchQuery, Totals } from './search-index.ts'
import type { SearchMethods } from './search-thread.ts'

/** Search over all models that are in the database when a method is called. */
export interface Search {
  /** A page of the matching models, and their number. */
  find(query: SearchQuery): Promise<Found>
  /** How many of the matching models have each label. */
  countLabels(filter: SearchFilter): Promise<LabelCount[]>
  /** Totals of the public models, with the parameter counts of the most downloaded ones. */
  total(maxParameterCounts: number): Promise<Totals>
  /** Loads the index, so that the first search does not have to wait for it. */
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

/** Runs the search index in a thread, which is started for the first search, and again if it has ended. */
export function openSearch({ reader, loadTimeoutMs = defaultLoadTimeoutMs }: Options): Search {
  let running: { thread: Thread<SearchMethods>; loaded: Promise<void> } | undefined
  let isClosed = false

  function start() {
    const thread = startThread<SearchMethods>('search-thread', import.meta.url, reader)
    const started = { thread, loaded: thread.rpc.call('load') }
    const forget = () => {
      if (running === started) running = undefined
    }
    thread.worker.on('error', forget) // its callers get the error
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
