/** Loads and unloads models. Keeps them within the memory limit by unloading the least recently used ones. */
import type { Log } from '@shoal/log'
import { Fault } from '../errors.ts'
import { freeMemory } from '../machine/memory.ts'
import type { Runtime, StartRuntime } from '../runtime/runtime.ts'
import { checkFiles } from './check-files.ts'
import { type ContextPlan, createContextPlanner } from './contexts.ts'
import type { Plan } from './loaded-model.ts'
import type { LocalModel } from './local-models.ts'
import { canGrow, chooseToUnload, countUsableBytes, planPromptCache } from './memory-plan.ts'
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
  /** How long an idle model stays loaded; negative means forever. */
  keepAliveMs: number
  log: Pick<Log, 'info' | 'error'>
}

/** A model that is loaded or being loaded. */
export type Entry = Plan & {
  runtime: Promise<Runtime>
  /** The model's stamp when the models folder was last listed. */
  stamp?: string | undefined
}

export type Lifecycle = {
  /** The models that are loaded or being loaded. */
  entries(): Entry[]
  /** The entry of the model with this path, if it is loaded or being loaded. */
  get(path: string): Entry | undefined
  /** Plans a model's conversations for the memory that is free now. `wanted` is the requested context length. */
  plan(model: LocalModel, wanted: number | undefined): ContextPlan
  /**
   * Returns the model's entry. Begins to load the model if it is not loaded, if its file has been replaced, or if it
   * can be reloaded with the longer context that is wanted. A model that answers requests is never reloaded.
   */
  open(model: LocalModel, wanted: number | undefined): Entry
  /** Unloads a model. Its requests in progress fail. */
  unload(entry: Entry): Promise<void>
}

export function openLifecycle(settings: LifecycleSettings): Lifecycle {
  const { memoryBytes, log } = settings
  const { planContext } = createContextPlanner(settings)
  const byPath = new Map<string, Entry>()
  const entries = () => [...byPath.values()]
  const measure = () => ({ memoryBytes, freeBytes: freeMemory() })
  /** Models are loaded one at a time, because two simultaneous loads would rely on the same free memory. */
  let loading: Promise<unknown> = Promise.resolve()

  const plan = (model: LocalModel, wanted: number | undefined) =>
    planContext(model, wanted, countUsableBytes(entries(), measure()))

  function open(model: LocalModel, wanted: number | undefined): Entry {
    const known = byPath.get(model.path)
    if (known && !mustReload(known, model, wanted)) return known
    const planned: Plan = {
      model,
      ...plan(model, wanted),
      loadedAt: undefined,
      requests: 0,
      usedAt: 0,
      idleSince: undefined,
      keepAliveMs: known?.keepAliveMs ?? settings.keepAliveMs,
      stopTimer: () => undefined,
      expiresAt: undefined,
    }
    const isFree = known ? unload(known) : Promise.resolve()
    const entry = Object.assign(planned, { runtime: load(planned, isFree) })
    entry.runtime.catch(() => forget(entry)) // the waiting requests get the error
    byPath.set(model.path, entry)
    return entry
  }

  function mustReload(known: Entry, model: LocalModel, wanted: number | undefined): boolean {
    if (known.requests > 0) return false
    if (!isSameFile(known.model, model)) return true
    if (wanted === undefined && !known.isContextRequested) return false
    return canGrow(known, plan(known.model, wanted), entries(), { memoryBytes })
  }

  function load(planned: Plan, isFree: Promise<void>): Promise<Runtime> {
    const turn = Promise.all([loading, isFree]).then(() => start(planned))
    loading = turn.catch(() => undefined) // a failure does not affect the next load
    return turn
  }

  async function start(planned: Plan): Promise<Runtime> {
    const { model, contextLength, slots } = planned
    await checkFiles(model)
    await makeRoom(planned)
    const startedAt = performance.now()
    const { startRuntime, threads, areThreadsAdapted = false } = settings
    const promptCache = planPromptCache(planned, entries(), measure())
    const chosen = { modelPath: model.path, contextLength, slots, threads, areThreadsAdapted }
    const runtime = await startRuntime({ ...chosen, promptCache }).catch((error) => {
      log.error({ err: error, model: model.id }, 'a model could not be loaded')
      const message = `model ${model.id} cannot be loaded: ${error.message}`
      throw new Fault('model_not_loaded', message, { param: 'model' })
    })
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

  /**
   * Frees the prompt caches of all models, which were planned when more memory was free, and unloads idle models until
   * the wanted model fits. Throws a `Fault` if it cannot fit.
   */
  async function makeRoom(wanted: Plan) {
    await Promise.all(entries().map(freeCache))
    const choose = () => chooseToUnload(wanted, entries(), { memoryBytes })
    for (let idle = choose(); idle; idle = choose()) await unload(idle)
  }

  async function freeCache({ runtime, loadedAt }: Entry) {
    if (!loadedAt) return
    const { freeCache } = await runtime
    await freeCache().catch(() => undefined) // a failure means that the process has exited, which freed its cache
  }

  function forget(planned: Plan) {
    planned.stopTimer()
    if (byPath.get(planned.model.path) === planned) byPath.delete(planned.model.path)
  }

  async function unload(entry: Entry) {
    forget(entry)
    const runtime = await entry.runtime.catch(() => undefined) // the model could not be loaded
    await runtime?.close()
    if (runtime) log.info({ model: entry.model.id }, 'model unloaded')
  }

  return { entries, get: (path) => byPath.get(path), plan, open, unload }
}
