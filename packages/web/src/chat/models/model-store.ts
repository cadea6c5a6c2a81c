/** The models on the daemon's machine, and those in the registries known to that machine. */
import type { InferenceClient, RegistryFile } from '@shoal/protocol/inference-client'
import { observable } from '../../observable.ts'
import type { ChatFailure } from '../conversation/conversation.ts'
import { toRegistryFailure } from './to-registry-failure.ts'

/** A pull that this page has started. Sizes are in bytes. */
export type Pull =
  /** The registry has not responded yet. */
  | { state: 'starting' }
  | { state: 'running'; completed: number; total: number }
  | { state: 'failed'; fault: ChatFailure }
  /** `id` is the daemon's ID of the model. */
  | { state: 'done'; id: string | undefined }

type PullOptions = {
  /** The file to pull, if it is already known. */
  file?: RegistryFile
  allowUnknown?: boolean
}

export type ModelStore = ReturnType<typeof createModelStore>

/** Creates the model store. `onChanged` is called when a model has been added or removed. */
export function createModelStore(daemon: InferenceClient, onChanged: () => Promise<void>) {
  /** The pulls, keyed by the model name including the registry. */
  const pulls = observable<ReadonlyMap<string, Pull>>(new Map())
  /** The number of models removed so far. */
  const removals = observable(0)
  const running = new Map<string, AbortController>()

  function show(model: string, pull: Pull | undefined) {
    const next = new Map(pulls.get())
    if (pull) next.set(model, pull)
    else next.delete(model)
    pulls.set(next)
  }

  async function run(
    model: string,
    { allowUnknown = false, file }: PullOptions,
    signal: AbortSignal,
  ) {
    const options = { allowUnknown, signal }
    const { size_bytes: total } = file ?? (await daemon.findFile(model, options))
    const completed = new Map<string, number>()
    const sum = () => completed.values().reduce((all, bytes) => all + bytes, 0)
    show(model, { state: 'running', completed: 0, total })
    for await (const { digest, completed: bytes } of daemon.pull(model, options)) {
      completed.set(digest, bytes)
      show(model, { state: 'running', completed: Math.min(sum(), total), total })
    }
    await onChanged()
    // The pull has succeeded, so ignore an error here; the registry may have just gone offline, for example.
    const found = await daemon.findFile(model, options).catch(() => undefined)
    return found?.local_model ?? undefined
  }

  return {
    pulls,
    removals,
    listRegistries: daemon.listRegistries,
    search: daemon.searchRegistry,
    findFile: daemon.findFile,
    listInstalled: daemon.listModels,

    async remove(id: string) {
      await daemon.removeModel(id)
      removals.set(removals.get() + 1)
      for (const [model, pull] of pulls.get()) {
        if (pull.state === 'done' && pull.id === id) show(model, undefined)
      }
      await onChanged()
    },

    /** Pulls a model. `model` includes the registry. The progress and the result are in `pulls`. */
    async pull(model: string, options: PullOptions = {}) {
      if (running.has(model)) return
      const abort = new AbortController()
      running.set(model, abort)
      show(model, { state: 'starting' })
      try {
        const id = await run(model, options, abort.signal)
        show(model, { state: 'done', id })
      } catch (error) {
        if (abort.signal.aborted) show(model, undefined)
        else show(model, { state: 'failed', fault: toRegistryFailure(error, model) })
      } finally {
        running.delete(model)
      }
    },

    /** Stops a pull. The downloaded bytes are kept, so that the next pull can resume. */
    cancel: (model: string) => running.get(model)?.abort(),

    forget: (model: string) => show(model, undefined),
  }
}
