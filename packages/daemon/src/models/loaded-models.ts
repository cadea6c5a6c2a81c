import type { Preset } from '@shoal/transfer'
import { Fault, modelNotFound } from '../errors.ts'
import { type Entry, type LifecycleSettings, openLifecycle } from './lifecycle.ts'
import { type LoadedModel, toLoadedModel } from './loaded-model.ts'
import { findModel, hasAlias, type LocalModel, type LocalModels } from './local-models.ts'
import { getModelStamp } from './model-stamp.ts'
import { openCrashLog, survivingRuntime } from './surviving-runtime.ts'
import { updateLoaded } from './update-loaded.ts'
import { modelUses, notNow, type Use, type UseOptions, type UseSettings } from './use-model.ts'

type Settings = LifecycleSettings & UseSettings & { local: LocalModels }

/**
 * The models in the daemon's memory. Methods that take a name reject with a `Fault` if the name is unknown, or if the
 * model cannot be loaded, for example because of too little memory.
 */
export interface LoadedModels {
  /**
   * Reserves a model for one request, and loads the model if needed. If the model does not fit in memory together with
   * busy models, waits until they are idle. Rejects with `queue_full` if too many requests are already waiting for the
   * model.
   */
  use(id: string, options?: UseOptions): Promise<Use>
  /** The context length with which this model is loaded, or would be loaded. */
  getContextLength(model: LocalModel): number
  /** The user's settings for a model; undefined if there is no such model. */
  findPreset(id: string): Promise<Preset | undefined>
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
  /** The requests for each model that is loaded, being loaded or waiting to be loaded, and the memory that it uses. */
  queues(): { id: string; requests: number; queued: number; memoryBytes: number }[]
  /** Unloads all models, without waiting for answers in progress. */
  close(): Promise<void>
}

/** Finds models by name, and loads them on request. */
export function loadedModels({ local, ...settings }: Settings): LoadedModels {
  const lifecycle = openLifecycle(settings)
  const { entries, get, plan, open, unload } = lifecycle
  const begin = modelUses(lifecycle, settings)
  const crashes = openCrashLog()

  /** Checks the files. Unloads each model whose file is gone, unless requests for the model are in progress. */
  async function refresh(): Promise<LocalModel[]> {
    const all = await local.list()
    const gone = updateLoaded(entries(), all)
    await Promise.all(gone.filter(({ requests }) => requests === 0).map(unload))
    return all
  }

  /** Finds a model. Lists the models folder only if the model is not loaded or something in its folder has changed. */
  async function getLocal(id: string): Promise<LocalModel> {
    const isWanted = ({ model }: Entry) => model.id === id || hasAlias(model, id)
    const known = entries().find(isWanted)
    const stamp = known && (await getModelStamp(known.model))
    if (known && stamp !== undefined && stamp === known.stamp) return known.model
    const model = findModel(await refresh(), id)
    if (known && known.model === model) known.stamp = stamp // otherwise, its file has been replaced
    if (model) return model
    const failure = await local.findProblem(id)
    if (failure === undefined) throw modelNotFound(id)
    throw new Fault('model_unusable', failure, { param: 'model' })
  }

  /** Searches the loaded models first, because a loaded model's file may be gone. */
  async function findEntry(id: string): Promise<Entry | undefined> {
    const loaded = entries()
    updateLoaded(loaded, await local.list())
    const known = loaded.map(({ model }) => model)
    return get((findModel(known, id) ?? (await getLocal(id))).path)
  }

  const useOnce = async (id: string, options: UseOptions): Promise<Use> =>
    begin(open(await getLocal(id), options.contextLength), options)

  async function use(id: string, options: UseOptions = {}): Promise<Use> {
    const used = await useOnce(id, options)
    const runtime = survivingRuntime(used.runtime, {
      modelPath: used.model.path,
      crashes,
      useAgain: () => useOnce(id, options),
    })
    return { ...used, runtime }
  }

  const status = () => entries().flatMap((entry) => toLoadedModel(entry) ?? [])

  return {
    use,
    status,

    getContextLength: (model) => (get(model.path) ?? plan(model)).contextLength,

    async findPreset(id) {
      try {
        return (await getLocal(id)).preset
      } catch (error) {
        if (error instanceof Fault) return undefined // whoever uses the model gets the error
        throw error
      }
    },

    async load(id, options) {
      const { model, [Symbol.dispose]: leave } = await use(id, options)
      leave()
      const entry = get(model.path)
      const loaded = entry && toLoadedModel(entry)
      if (loaded) return loaded
      throw notNow(`model ${model.id} crashed as soon as it was loaded`)
    },

    async unload(id) {
      const entry = await findEntry(id)
      if (entry) await unload(entry)
      return entry !== undefined
    },

    async release(id) {
      const entry = await findEntry(id)
      if (entry?.requests === 0) await unload(entry)
      else if (entry) entry.keepAliveMs = 0
    },

    async list() {
      await refresh()
      return status()
    },

    queues: () =>
      entries().map(({ model, requests, slots, loadedAt, memoryBytes }) => ({
        id: model.id,
        requests,
        queued: loadedAt ? Math.max(0, requests - slots) : requests,
        memoryBytes: loadedAt ? memoryBytes : 0,
      })),

    async close() {
      await Promise.all(entries().map(unload))
    },
  }
}
