import { type Clock, systemClock } from '@shoal/core/async'
import { hasCode } from '@shoal/core/errors'
import { Fault, modelNotFound } from '../errors.ts'
import { freeMemory } from '../machine/memory.ts'
import type { Runtime, StartRuntime } from '../runtime/runtime.ts'
import { checkFiles } from './check-files.ts'
import { createContextPlanner } from './contexts.ts'
import { type LoadedModel, type Plan, toLoadedModel } from './loaded-model.ts'
import { findModel, type LocalModel, type LocalModels } from './local-models.ts'
import { memoryInUse, needsTooMuch } from './memory-faults.ts'
import { getModelStamp } from './model-stamp.ts'
import { openCrashLog, survivingRuntime } from './surviving-runtime.ts'
import { isSameFile, updateLoaded } from './update-loaded.ts'

type Log = {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

type Dependencies = {
  local: LocalModels
  startRuntime: StartRuntime
  /** Memory for all models together. */
  memoryBytes: number
  /**
   * Context length in tokens, capped at the model's own maximum; undefined to choose a length that fits the free
   * memory.
   */
  contextLength: number | undefined
  /** The maximum number of concurrent conversations per model. */
  slots: number
  /** Returns the free memory in bytes. Default: the free memory of this machine or container. */
  getFreeBytes?: () => number
  threads: number
  areThreadsAdapted?: boolean
  /** The number of requests that may wait for a slot of one model. */
  queueLength: number
  /** How long an idle model stays loaded; negative means forever. */
  keepAliveMs: number
  log: Log
  clock?: Clock
}

/** A model that is loaded or being loaded. */
type Entry = Plan & {
  runtime: Promise<Runtime>
  /** The model's stamp when the models folder was last listed. */
  stamp?: string | undefined
}

export type UseOptions = {
  /** How long the model stays loaded when idle. Negative means forever; undefined means unchanged. */
  keepAliveMs?: number | undefined
  /** Context length in tokens; undefined for the daemon's setting. */
  contextLength?: number | undefined
}

const maxPromptCacheBytes = 8e9
/** The maximum delay of a timer, about 25 days. */
const maxTimerMs = 2 ** 31 - 1

/** The use of a model for one request. Must be disposed when the request ends. */
export type Use = Disposable & { runtime: Runtime; model: LocalModel }

/**
 * The models in the daemon's memory. Methods that take a name reject with a `Fault` if the name is unknown, or if the
 * model cannot be loaded, for example because of too little memory.
 */
export interface LoadedModels {
  /**
   * Reserves a model for one request, and loads the model if needed. Rejects with `queue_full` if too many requests are
   * already waiting.
   */
  use(id: string, options?: UseOptions): Promise<Use>
  /** The context length with which this model is loaded, or would be loaded. */
  getContextLength(model: LocalModel): number
  /** Loads a model without a request. */
  load(id: string, options?: UseOptions): Promise<LoadedModel>
  /** Unloads a model. Its requests in progress fail. Resolves to whether the model was loaded. */
  unload(id: string): Promise<boolean>
  /** Unloads a model after its requests in progress have been answered. */
  release(id: string): Promise<void>
  /** Checks the files of the loaded models, and then lists these models. */
  list(): Promise<LoadedModel[]>
  /** Lists the loaded models without checking their files. */
  status(): LoadedModel[]
  /** Unloads all models, without waiting for answers in progress. */
  close(): Promise<void>
}

/** Loads models on request. Unloads the least recently used models to stay within the memory limit. */
export function loadedModels(dependencies: Dependencies): LoadedModels {
  const { local, memoryBytes, queueLength, log, getFreeBytes = freeMemory } = dependencies
  const { clock = systemClock } = dependencies
  const { planContext } = createContextPlanner(dependencies)
  const entries = new Map<string, Entry>()
  const crashes = openCrashLog()
  let uses = 0
  /** Models are loaded one at a time, because two simultaneous loads would rely on the same free memory. */
  let loading: Promise<unknown> = Promise.resolve()

  /** Checks the files. Unloads each model whose file is gone, unless requests for the model are in progress. */
  async function refresh(): Promise<LocalModel[]> {
    const all = await local.list()
    const gone = updateLoaded([...entries.values()], all)
    await Promise.all(gone.filter(({ requests }) => requests === 0).map(unloadEntry))
    return all
  }

  /** Finds a model. Lists the models folder only if the model is not loaded or something in its folder has changed. */
  async function getLocal(id: string): Promise<LocalModel> {
    const known = entries.values().find(({ model }) => model.id === id)
    const stamp = known && (await getModelStamp(known.model))
    if (known && stamp !== undefined && stamp === known.stamp) return known.model
    const model = findModel(await refresh(), id)
    if (known && known.model === model) known.stamp = stamp // otherwise, its file has been replaced
    if (model) return model
    const failure = await local.findProblem(id)
    throw failure === undefined ? modelNotFound(id) : notNow(failure)
  }

  function entryFor(model: LocalModel, wanted: number | undefined): Entry {
    const known = entries.get(model.path)
    const isOutdated = known && known.requests === 0 && !isSameFile(known.model, model)
    if (known && !isOutdated && !canGrow(known, wanted)) return known
    const plan: Plan = {
      model,
      ...planContext(model, wanted, countFreeBytes()),
      loadedAt: undefined,
      requests: 0,
      usedAt: 0,
      idleSince: undefined,
      keepAliveMs: known?.keepAliveMs ?? dependencies.keepAliveMs,
      stopTimer: () => undefined,
      expiresAt: undefined,
    }
    const isFree = known ? unloadEntry(known) : Promise.resolve()
    const entry = Object.assign(plan, { runtime: load(plan, isFree) })
    entry.runtime.catch(() => forget(entry)) // the waiting requests get the error
    entries.set(model.path, entry)
    return entry
  }

  /** Searches the loaded models first, because a loaded model's file may be gone. */
  async function findEntry(id: string): Promise<Entry | undefined> {
    const loaded = [...entries.values()]
    updateLoaded(loaded, await local.list())
    const model = findModel(
      loaded.map((entry) => entry.model),
      id,
    )
    return entries.get((model ?? (await getLocal(id))).path)
  }

  /** Whether the model can be reloaded with a longer context now, while all other models in use stay loaded. */
  function canGrow(entry: Entry, wanted: number | undefined): boolean {
    if (entry.requests > 0 || (wanted === undefined && !entry.isContextRequested)) return false
    const plan = planContext(entry.model, wanted, countFreeBytes())
    if (entry.contextLength >= plan.contextLength) return false
    return sumBusyBytes() + plan.memoryBytes <= memoryBytes
  }

  const sumBusyBytes = () =>
    [...entries.values()]
      .filter(({ requests }) => requests > 0)
      .reduce((sum, one) => sum + one.memoryBytes, 0)

  /** The memory that a new model may use, including the memory of idle models, which can be unloaded. */
  function countFreeBytes(): number {
    const idleBytes = [...entries.values()]
      .filter(({ requests, loadedAt }) => requests === 0 && loadedAt)
      .reduce((sum, one) => sum + one.memoryBytes, 0)
    return Math.min(memoryBytes - sumBusyBytes(), getFreeBytes() + idleBytes)
  }

  async function load(entry: Plan, isFree: Promise<void>): Promise<Runtime> {
    const turn = Promise.all([loading, isFree]).then(() => start(entry))
    loading = turn.catch(() => undefined) // a failure does not affect the next load
    return turn
  }

  async function start(entry: Plan): Promise<Runtime> {
    const { model, contextLength, slots } = entry
    await checkFiles(model)
    await makeRoom(entry)
    const startedAt = performance.now()
    const { startRuntime, threads, areThreadsAdapted = false } = dependencies
    const options = {
      ...{ modelPath: model.path, contextLength, slots, threads, areThreadsAdapted },
      promptCache: planPromptCache(entry),
    }
    const runtime = await startRuntime(options).catch((error) => {
      log.error({ err: error, model: model.id }, 'a model could not be loaded')
      throw new Fault('model_not_loaded', `model ${model.id} cannot be loaded: ${error.message}`, {
        param: 'model',
      })
    })
    entry.loadedAt = new Date()
    log.info(
      {
        model: model.id,
        ms: Math.round(performance.now() - startedAt),
        bytes: entry.memoryBytes,
        contextLength,
        contextReason: entry.contextReason,
        slots,
      },
      'model loaded',
    )
    runtime.ended.then((reason) => {
      if (reason !== undefined) log.error({ model: model.id, reason }, "a model's process exited")
      forget(entry)
    })
    return runtime
  }

  async function freeCache({ runtime, loadedAt }: Entry) {
    if (!loadedAt) return
    const { freeCache } = await runtime
    await freeCache().catch(() => undefined) // a failure means that the process has exited, which freed its cache
  }

  /** Plans the cache for conversations without a slot, which uses part of the memory that the model leaves free. */
  function planPromptCache({ bytesPerToken, memoryBytes: needed }: Plan) {
    const plannedBytes = [...entries.values()].reduce((sum, one) => sum + one.memoryBytes, 0)
    const leftBytes = Math.max(0, Math.min(memoryBytes - plannedBytes, getFreeBytes() - needed))
    return { maxBytes: Math.min(maxPromptCacheBytes, leftBytes / 4), bytesPerToken }
  }

  /**
   * Frees the prompt caches of all models, which were planned when more memory was free, and unloads idle models until
   * the wanted model fits. Throws a `Fault` if it cannot fit.
   */
  async function makeRoom(wanted: Plan) {
    await Promise.all([...entries.values()].map(freeCache))
    if (wanted.memoryBytes > memoryBytes) throw needsTooMuch(wanted, memoryBytes)
    const others = () => [...entries.values()].filter((one) => one !== wanted && one.loadedAt)
    const taken = () => others().reduce((sum, one) => sum + one.memoryBytes, 0)
    while (taken() + wanted.memoryBytes > memoryBytes) {
      const idle = others().filter(({ requests }) => requests === 0)
      const [oldest] = idle.toSorted((a, b) => a.usedAt - b.usedAt)
      if (!oldest) throw memoryInUse(wanted)
      await unloadEntry(oldest)
    }
  }

  function forget(entry: Plan) {
    entry.stopTimer()
    if (entries.get(entry.model.path) === entry) entries.delete(entry.model.path)
  }

  async function unloadEntry(entry: Entry) {
    forget(entry)
    const runtime = await entry.runtime.catch(() => undefined) // the model could not be loaded
    await runtime?.close()
    if (runtime) log.info({ model: entry.model.id }, 'model unloaded')
  }

  function rest(entry: Entry) {
    entry.stopTimer()
    entry.expiresAt = undefined
    const { keepAliveMs } = entry
    if (entry.requests > 0) return
    entry.idleSince = new Date()
    if (keepAliveMs < 0) return
    entry.expiresAt = new Date(Date.now() + keepAliveMs)
    const unload = () =>
      unloadEntry(entry).catch((error) =>
        log.error({ err: error }, 'a model could not be unloaded'),
      )
    const wait = (ms: number) => {
      const onward = () => (ms > maxTimerMs ? wait(ms - maxTimerMs) : unload())
      entry.stopTimer = clock.after(Math.min(ms, maxTimerMs), onward)
    }
    wait(keepAliveMs)
  }

  async function useOnce(
    id: string,
    { keepAliveMs, contextLength }: UseOptions = {},
  ): Promise<Use> {
    const entry = entryFor(await getLocal(id), contextLength)
    if (entry.requests >= entry.slots + queueLength) {
      throw new Fault(
        'queue_full',
        `the queue of model ${entry.model.id} is full (${queueLength} requests): try again later`,
        { retryAfterSeconds: 2 },
      )
    }
    uses += 1
    entry.usedAt = uses
    entry.requests += 1
    entry.idleSince = undefined
    entry.expiresAt = undefined
    if (keepAliveMs !== undefined) entry.keepAliveMs = keepAliveMs
    entry.stopTimer()
    const leave = () => {
      entry.requests -= 1
      rest(entry)
    }
    try {
      const runtime = await entry.runtime
      return { runtime, model: entry.model, [Symbol.dispose]: leave }
    } catch (error) {
      leave()
      if (hasCode(error, 'model_lost')) throw notNow(`model ${entry.model.id}: ${error.message}`)
      throw error
    }
  }

  async function use(id: string, options?: UseOptions): Promise<Use> {
    const used = await useOnce(id, options)
    const runtime = survivingRuntime(used.runtime, {
      ...{ modelPath: used.model.path, crashes },
      useAgain: () => useOnce(id, options),
    })
    return { ...used, runtime }
  }

  const status = () => [...entries.values()].flatMap((entry) => toLoadedModel(entry) ?? [])

  return {
    use,

    getContextLength: (model) =>
      (entries.get(model.path) ?? planContext(model, undefined, countFreeBytes())).contextLength,

    async load(id, loadOptions = {}) {
      const { model, [Symbol.dispose]: leave } = await use(id, loadOptions)
      leave()
      const entry = entries.get(model.path)
      const status = entry && toLoadedModel(entry)
      if (status) return status
      throw notNow(`model ${model.id} crashed as soon as it was loaded`)
    },

    async unload(id) {
      const entry = await findEntry(id)
      if (entry) await unloadEntry(entry)
      return entry !== undefined
    },

    async release(id) {
      const entry = await findEntry(id)
      if (entry?.requests === 0) await unloadEntry(entry)
      else if (entry) entry.keepAliveMs = 0
    },

    async list() {
      await refresh()
      return status()
    },

    status,

    async close() {
      await Promise.all([...entries.values()].map(unloadEntry))
    },
  }
}

const notNow = (message: string) => new Fault('model_not_loaded', message)
