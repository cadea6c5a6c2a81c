/** Searches the read-only model folders in the background, so that requests need not wait for slow disks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@shoal/log'
import { listModelFiles, type Unreadable } from '@shoal/transfer'
import type { DaemonConfig } from '../config.ts'

type Settings = Pick<DaemonConfig, 'modelsDirectory' | 'modelFolders'>

/** How often the folders are searched for files that have been added or deleted. */
const searchIntervalMs = 30_000

/** Searches the folders immediately, and then every 30 seconds. Each problem is logged once. */
export function searchInBackground(
  { modelsDirectory, modelFolders }: Settings,
  log: Pick<Log, 'warn'>,
) {
  const stop = new AbortController()
  const { signal } = stop
  const firstSearch = Promise.withResolvers<void>()
  /** The problems that the last search found: reasons by path. */
  let reported = new Map<string, string>()

  /** The first search also forgets the models of folders that have been removed from the setting. */
  async function search(readFolders: () => Promise<string[]>, isFirst: boolean) {
    const found = new Map<string, string>()
    const report = ({ path, why }: Unreadable) => {
      found.set(path, why)
      if (reported.get(path) !== why) log.warn({ path, why }, 'a model file or folder is skipped')
    }
    try {
      const folders = await readFolders()
      const options = { modelsDirectory, folders, areOthersForgotten: isFirst, signal }
      await listModelFiles(options, report)
    } catch (error) {
      signal.throwIfAborted()
      report({ path: modelsDirectory, why: (error as Error).message })
    }
    reported = found
  }

  async function run(readFolders: () => Promise<string[]>) {
    for (let isFirst = true; ; isFirst = false) {
      await search(readFolders, isFirst)
      firstSearch.resolve()
      await sleep(searchIntervalMs, undefined, { signal, ref: false })
    }
  }

  if (modelFolders === undefined) firstSearch.resolve()
  const running = modelFolders && run(modelFolders).catch(unlessStopped)
  function unlessStopped(error: Error) {
    if (!signal.aborted) throw error
  }
  return {
    /** Resolves when the folders have been searched once, or immediately if there are no folders to search. */
    firstSearch: firstSearch.promise,
    async stop() {
      stop.abort(new Error('the daemon is shutting down'))
      firstSearch.resolve()
      await running
    },
  }
}
