import { memoryOf } from '@shoal/model-file'
import { Fault } from '../errors.ts'
import { type Runtime, RuntimeGoneError, type StartRuntime } from '../runtime/runtime.ts'
import type { LocalModel, LocalModels } from './local-models.ts'

export type LoadedModel = {
  model: LocalModel
  memoryBytes: number
  contextLength: number
  loadedAt: Date
  /** Requests that run or wait. */
  requests: number
  /** When it will be unloaded, if nobody asks for it; undefined while somebody does, or for ever. */
  expiresAt: Date | undefined
}

type Log = {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

type Dependencies = {
  local: LocalModels
  startRuntime: StartRuntime
  /** What all models together may take. */
  memoryBytes: number
  /** Tokens of a conversation, unless the model was made for fewer. */
  contextLength: number
  /** Conversations of one model at a time. */
  slots: number
  threads: number
  /** Requests that may wait for a slot of one model. */
  queueLength: number
  /** How long a model stays loaded that nobody asks for; negative for ever. */
  keepAliveMs: number
  log: Log
}

type Plan = {
  model: LocalModel
  memoryBytes: number
  contextLength: number
  loadedAt: Date | undefined
  requests: number
  usedAt: number
  keepAliveMs: number
  timer: NodeJS.Timeout | undefined
  expiresAt: Date | undefined
}

/** A model that is loaded or being loaded. */
type Entry = Plan & { runtime: Promise<Runtime> }

/** One request's use of a model. To be disposed when the request is over. */
export type Use = Disposable & { runtime: Runtime; model: LocalModel }

export type LoadedModels = ReturnType<typeof loadedModels>

/** Loads models when they are asked for and unloads those that nobody asked for the longest time, within the memory that it is given. */
export function loadedModels(dependencies: Dependencies) {
  const { local, memoryBytes, slots, queueLength, log } = dependencies
  const entries = new Map<string, Entry>()
  let clock = 0
  /** One model is loaded at a time: two at once would count on the same memory. */
  let loading: Promise<unknown> = Promise.resolve()

  async function getLocal(id: string): Promise<LocalModel> {
    const model = await local.find(id)
    if (model) return model
    const message = `the model ${id} is not on this machine: shoal pull ${id} would fetch it`
    throw new Fault(404, message, { code: 'model_not_found', param: 'model' })
  }

  function needOf(model: LocalModel) {
    const { contextLength } = contextOf(model)
    const use = { weightBytes: model.fileSizeBytes, contextLength, conversations: slots }
    return memoryOf(model.facts, use).totalBytes
  }

  function contextOf({ facts }: LocalModel) {
    const { contextLength: wanted } = dependencies
    return { contextLength: Math.min(wanted, facts.context_length ?? wanted) }
  }

  function entryFor(model: LocalModel): Entry {
    const known = entries.get(model.path)
    if (known) return known
    const plan: Plan = {
      model,
      memoryBytes: needOf(model),
      ...contextOf(model),
      loadedAt: undefined,
      requests: 0,
      usedAt: 0,
      keepAliveMs: dependencies.keepAliveMs,
      timer: undefined,
      expiresAt: undefined,
    }
    const entry = Object.assign(plan, { runtime: load(plan) })
    entry.runtime.catch(() => forget(entry)) // whoever waits for it is told
    entries.set(model.path, entry)
    return entry
  }

  async function load(entry: Plan): Promise<Runtime> {
    const turn = loading.then(() => start(entry))
    loading = turn.catch(() => undefined) // the next one is not concerned
    return turn
  }

  async function start(entry: Plan): Promise<Runtime> {
    const { model, contextLength } = entry
    await makeRoom(entry)
    const startedAt = performance.now()
    const { startRuntime, threads } = dependencies
    const options = { modelPath: model.path, contextLength, slots, threads }
    const runtime = await startRuntime(options).catch((error) => {
      log.error({ err: error, model: model.id }, 'a model was not loaded')
      throw new Fault(503, `${model.id} cannot be loaded: ${error.message}`, {
        code: 'model_not_loaded',
        param: 'model',
      })
    })
    entry.loadedAt = new Date()
    log.info(
      { model: model.id, ms: Math.round(performance.now() - startedAt), bytes: entry.memoryBytes },
      'model loaded',
    )
    runtime.ended.then((reason) => {
      if (reason !== undefined) log.error({ model: model.id, reason }, 'a model was lost')
      forget(entry)
    })
    return runtime
  }

  async function makeRoom(wanted: Plan) {
    const { model } = wanted
    if (wanted.memoryBytes > memoryBytes) {
      throw notNow(
        `${model.id} needs ${gigabytes(wanted.memoryBytes)} of memory, and models may take ${gigabytes(memoryBytes)} here`,
      )
    }
    const others = () => [...entries.values()].filter((one) => one !== wanted && one.loadedAt)
    const taken = () => others().reduce((sum, one) => sum + one.memoryBytes, 0)
    while (taken() + wanted.memoryBytes > memoryBytes) {
      const idle = others().filter(({ requests }) => requests === 0)
      const [oldest] = idle.toSorted((a, b) => a.usedAt - b.usedAt)
      if (!oldest) {
        const seconds = 5
        throw notNow(`the memory for ${model.id} is in use by models that are answering`, seconds)
      }
      await unloadEntry(oldest)
    }
  }

  function forget(entry: Plan) {
    clearTimeout(entry.timer)
    if (entries.get(entry.model.path) === entry) entries.delete(entry.model.path)
  }

  async function unloadEntry(entry: Entry) {
    forget(entry)
    const runtime = await entry.runtime.catch(() => undefined) // it was never loaded
    await runtime?.close()
    if (runtime) log.info({ model: entry.model.id }, 'model unloaded')
  }

  function rest(entry: Entry) {
    clearTimeout(entry.timer)
    entry.expiresAt = undefined
    const { keepAliveMs } = entry
    if (entry.requests > 0 || keepAliveMs < 0) return
    entry.expiresAt = new Date(Date.now() + keepAliveMs)
    entry.timer = setTimeout(() => {
      unloadEntry(entry).catch((error) => log.error({ err: error }, 'a model was not unloaded'))
    }, keepAliveMs)
    entry.timer.unref()
  }

  async function use(id: string, keepAliveMs?: number): Promise<Use> {
    const entry = entryFor(await getLocal(id))
    if (entry.requests >= slots + queueLength) {
      throw new Fault(429, `${entry.model.id} has ${entry.requests} requests already`, {
        code: 'queue_full',
        retryAfterSeconds: 2,
      })
    }
    clock += 1
    entry.usedAt = clock
    entry.requests += 1
    if (keepAliveMs !== undefined) entry.keepAliveMs = keepAliveMs
    clearTimeout(entry.timer)
    const leave = () => {
      entry.requests -= 1
      rest(entry)
    }
    try {
      const runtime = await entry.runtime
      return { runtime, model: entry.model, [Symbol.dispose]: leave }
    } catch (error) {
      leave()
      if (error instanceof RuntimeGoneError) throw notNow(`${entry.model.id}: ${error.message}`)
      throw error
    }
  }

  return {
    use,

    /** Loads a model without asking it anything. `keepAliveMs` negative keeps it for ever. */
    async load(id: string, keepAliveMs?: number): Promise<LocalModel> {
      using loaded = await use(id, keepAliveMs)
      return loaded.model
    },

    /** False where it was not loaded. What it is asked just now ends with an error. */
    async unload(id: string): Promise<boolean> {
      const entry = entries.get((await getLocal(id)).path)
      if (entry) await unloadEntry(entry)
      return entry !== undefined
    },

    list: (): LoadedModel[] =>
      [...entries.values()].flatMap((entry) => {
        const { model, contextLength, requests, loadedAt, expiresAt } = entry
        if (!loadedAt) return []
        const { memoryBytes } = entry
        return [{ model, memoryBytes, contextLength, loadedAt, requests, expiresAt }]
      }),

    async close() {
      await Promise.all([...entries.values()].map(unloadEntry))
    },
  }
}

function notNow(message: string, retryAfterSeconds?: number): Fault {
  return new Fault(503, message, {
    code: 'model_not_loaded',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`
