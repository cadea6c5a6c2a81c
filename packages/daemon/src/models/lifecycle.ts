/**
 * Loads and unloads models. Keeps them within the memory limit by unloading the least recently used ones. Models are
 * loaded in the order in which they were requested. If a model needs the memory of busy ones, it waits until they are
 * idle; later requests for those wait for their turn after this model, so that no model waits forever.
 */
import { untilAborted } from '@shoal/core/async'
import { hasCode } from '@shoal/core/errors'
import type { DaemonReason } from '@shoal/core/errors/table'
import type { Log } from '@shoal/log'
import { Fault } from '../errors.ts'
import { freeMemory } from '../machine/memory.ts'
import { modelLost, type Runtime, type StartRuntime } from '../runtime/runtime.ts'
import { checkFiles } from './check-files.ts'
import { type ContextPlan, createContextPlanner } from './contexts.ts'
import { toKeepAliveMs } from './keep-alive.ts'
import type { Plan } from './loaded-model.ts'
import type { LocalModel } from './local-models.ts'
import {
  canGrow,
  chooseToUnload,
  countUsableBytes,
  isBusy,
  planEmbeddings,
  planPromptCache,
} from './memory-plan.ts'
import { isSameFile } from './update-loaded.ts'

export type LifecycleSettings = {
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
  threads: number
  areThreadsAdapted?: boolean
  /** The maximum number of tokens that a model thinks, unless a request contains another one; -1 for no maximum. */
  reasoningBudget?: number
  /** How long an idle model stays loaded; negative means forever. */
  keepAliveMs: number
  log: Pick<Log, 'info' | 'error'>
}

/** A model that is loaded or being loaded. */
export type Entry = Plan & {
  runtime: Promise<Runtime>
  /** The model's stamp when the models folder was last listed. */
  stamp?: string | undefined
  /** The chat template with which the model was loaded, if it is not the one in the file. */
  template: string | undefined
  /** Ends the wait for the model's turn and for memory; undefined when the model is being loaded. */
  wait: AbortController | undefined
}

export type Lifecycle = {
  /** The models that are loaded, being loaded or waiting to be loaded. */
  entries(): Entry[]
  /** The entry of the model with this path, if there is one. */
  get(path: string): Entry | undefined
  /** Plans a model's conversations for the memory that is free now. `wanted` is the requested context length. */
  plan(model: LocalModel, wanted?: number): ContextPlan
  /**
   * Returns the model's entry. Begins to load the model if it is not loaded, if its file has been replaced, or if it
   * can be reloaded with the longer context that is wanted. A model that answers requests is never reloaded.
   */
  open(model: LocalModel, wanted: number | undefined): Entry
  /** Called when a model has become idle, and so may be unloaded for another one. */
  noteIdle(entry: Entry): void
  /** Unloads a model. Its requests in progress fail. */
  unload(entry: Entry): Promise<void>
}

/** After this many crashes while a file is loaded, it is not loaded again until it changes. */
const maxCrashes = 2

const cannotLoad = (reason: DaemonReason, { id }: LocalModel, why: string) =>
  new Fault(reason, `model ${id} cannot be loaded: ${why}`, { param: 'model' })

export function openLifecycle(settings: LifecycleSettings): Lifecycle {
  const { memoryBytes, log } = settings
  const { planContext } = createContextPlanner(settings)
  const byPath = new Map<string, Entry>()
  /** Busy models that will be unloaded when they are idle, because a model waits for their memory. */
  const leaving = new Set<Entry>()
  const entries = () => [...leaving, ...byPath.values()]
  const get = (path: string) =>
    byPath.get(path) ?? [...leaving].find(({ model }) => model.path === path)
  /** The files that could not be loaded, by path. */
  const unusable = new Map<string, { model: LocalModel; why: string; crashes: number }>()
  /** Resolves when a model has become idle or is gone. */
  let change = Promise.withResolvers<void>()
  const measure = () => ({ memoryBytes, freeBytes: freeMemory() })
  /** Models are loaded one at a time, because two simultaneous loads would rely on the same free memory. */
  let loading: Promise<unknown> = Promise.resolve()

  const plan = (model: LocalModel, wanted = model.preset.parameters?.num_ctx ?? undefined) =>
    planContext(model, wanted, countUsableBytes(entries(), measure()))

  function open(model: LocalModel, given: number | undefined): Entry {
    refuseUnusable(model)
    const { parameters, keep_alive, template } = model.preset
    const wanted = given ?? parameters?.num_ctx ?? undefined
    const known = byPath.get(model.path)
    if (known && !mustReload(known, model, wanted)) return known
    const runtime = Promise.withResolvers<Runtime>()
    const entry: Entry = {
      model,
      ...plan(model, wanted),
      loadedAt: undefined,
      requests: 0,
      usedAt: 0,
      idleSince: undefined,
      keepAliveMs:
        get(model.path)?.keepAliveMs ?? toKeepAliveMs(keep_alive) ?? settings.keepAliveMs,
      template,
      stopTimer: () => undefined,
      expiresAt: undefined,
      runtime: runtime.promise,
      wait: undefined,
    }
    const isFree = known ? unload(known) : Promise.resolve()
    runtime.resolve(load(entry, wanted, isFree))
    entry.runtime.catch(() => forget(entry)) // the waiting requests get the error
    byPath.set(model.path, entry)
    return entry
  }

  function mustReload(known: Entry, model: LocalModel, wanted: number | undefined): boolean {
    if (known.requests > 0) return false
    if (!isSameFile(known.model, model) || known.template !== model.preset.template) return true
    if (wanted === undefined && !known.isContextRequested) return false
    return canGrow(known, plan(known.model, wanted), entries(), { memoryBytes })
  }

  function load(entry: Entry, wanted: number | undefined, isFree: Promise<void>): Promise<Runtime> {
    const wait = new AbortController()
    entry.wait = wait
    const ready = Promise.all([loading, isFree]).then(async () => {
      wait.signal.throwIfAborted()
      await checkFiles(entry.model)
      await makeRoom(entry, wanted, wait.signal)
      wait.signal.throwIfAborted()
      entry.wait = undefined
    })
    const started = ready.then(() => start(entry))
    loading = started.catch(() => undefined) // a failure does not affect the next load
    return untilAborted(wait.signal, started)
  }

  async function start(planned: Entry): Promise<Runtime> {
    const { model, contextLength, slots, template } = planned
    const startedAt = performance.now()
    const { startRuntime, threads, areThreadsAdapted = false, reasoningBudget } = settings
    const isDefault = settings.contextLength === undefined && !planned.isContextRequested
    const embedding = {
      maxTokens: isDefault ? undefined : contextLength,
      maxBytes: planEmbeddings(planned, entries(), measure()),
    }
    const promptCache = planPromptCache(planned, entries(), measure())
    const chosen = { modelPath: model.path, modelId: model.id, contextLength, slots, threads }
    const more = { areThreadsAdapted, reasoningBudget, template, embedding, promptCache }
    const runtime = await startRuntime({ ...chosen, ...more }).catch((error) => {
      log.error({ err: error, model: model.id }, 'a model could not be loaded')
      noteFailure(model, error)
      refuseUnusable(model)
      throw cannotLoad('model_not_loaded', model, error.message)
    })
    unusable.delete(model.path)
    planned.loadedAt = new Date()
    log.info(
      {
        model: model.id,
        ms: Math.round(performance.now() - startedAt),
        bytes: planned.memoryBytes,
        contextLength,
        contextReason: planned.contextReason,
        slots,
      },
      'model loaded',
    )
    runtime.ended.then((reason) => {
      if (reason !== undefined) log.error({ model: model.id, reason }, "a model's process exited")
      forget(planned)
    })
    return runtime
  }

  /** Remembers a failure that will probably be repeated until the file changes. */
  function noteFailure(model: LocalModel, error: Error) {
    const isCrash = hasCode(error, 'model_lost') && error.details.exit === 'crashed'
    if (!isCrash && !hasCode(error, 'model_unusable')) return
    const crashes = isCrash ? (unusable.get(model.path)?.crashes ?? 0) + 1 : maxCrashes
    unusable.set(model.path, { model, why: error.message, crashes })
  }

  /** Throws a `Fault` if the file could not be loaded, and has not changed since then. */
  function refuseUnusable(model: LocalModel) {
    const known = unusable.get(model.path)
    if (known && !isSameFile(known.model, model)) unusable.delete(model.path)
    else if (known && known.crashes >= maxCrashes) {
      throw cannotLoad('model_unusable', model, known.why)
    }
  }

  /**
   * Frees the prompt caches of all models, which were planned when more memory was free, and unloads models until this
   * one fits. Waits for busy models to become idle. Throws a `Fault` if this model can never fit.
   */
  async function makeRoom(entry: Entry, wanted: number | undefined, signal: AbortSignal) {
    await Promise.all(entries().map(freeCache))
    try {
      for (;;) {
        const loaded = entries().filter(({ loadedAt }) => loadedAt)
        const usableBytes = countUsableBytes(loaded, measure())
        Object.assign(entry, planContext(entry.model, wanted, usableBytes))
        const chosen = chooseToUnload(entry, loaded, { memoryBytes })
        const idle = chosen.find((one) => !isBusy(one))
        if (chosen.length === 0) return
        if (idle) {
          await unload(idle)
          continue
        }
        const { id } = entry.model
        log.info({ model: id, busy: chosen.length }, 'a model waits until others are idle')
        chosen.forEach(leave)
        await untilAborted(signal, change.promise)
      }
    } finally {
      leaving.forEach(stay)
    }
  }

  /** Sends no further requests to a busy model. */
  function leave(busy: Entry) {
    if (byPath.get(busy.model.path) === busy) byPath.delete(busy.model.path)
    leaving.add(busy)
  }

  /** Lets a model stay loaded after all, unless requests already wait for it to be loaded again. */
  function stay(busy: Entry) {
    if (byPath.has(busy.model.path)) return
    leaving.delete(busy)
    byPath.set(busy.model.path, busy)
  }

  function noteChange() {
    change.resolve()
    change = Promise.withResolvers()
  }

  async function freeCache({ runtime, loadedAt }: Entry) {
    if (!loadedAt) return
    const { freeCache } = await runtime
    await freeCache().catch(() => undefined) // a failure means that the process has exited, which freed its cache
  }

  function forget(entry: Entry) {
    entry.stopTimer()
    leaving.delete(entry)
    if (byPath.get(entry.model.path) === entry) byPath.delete(entry.model.path)
    noteChange()
  }

  /** A model for which no request waits any more need not be loaded. */
  function noteIdle(entry: Entry) {
    if (entry.wait) void unload(entry)
    noteChange()
  }

  async function unload(entry: Entry) {
    forget(entry)
    entry.wait?.abort(modelLost('the model was unloaded'))
    const runtime = await entry.runtime.catch(() => undefined) // the model could not be loaded
    await runtime?.close()
    if (runtime) log.info({ model: entry.model.id }, 'model unloaded')
  }

  return { entries, get, plan, open, noteIdle, unload }
}
