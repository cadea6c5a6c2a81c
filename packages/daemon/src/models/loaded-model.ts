import type { ContextPlan } from './contexts.ts'
import type { LocalModel } from './local-models.ts'

export type LoadedModel = {
  model: LocalModel
  memoryBytes: number
  contextLength: number
  loadedAt: Date
  /** The number of requests in progress or waiting. */
  requests: number
  /** When the model became idle; undefined while requests are in progress or waiting. */
  idleSince: Date | undefined
  /** How long the model stays loaded after its last answer; negative means forever. */
  keepAliveMs: number
  /**
   * When the model will be unloaded if no requests arrive. Undefined while requests are in progress or waiting, or if
   * the model stays loaded forever.
   */
  expiresAt: Date | undefined
}

/** A model that is loaded or being loaded. */
export type Plan = ContextPlan & {
  model: LocalModel
  loadedAt: Date | undefined
  requests: number
  usedAt: number
  idleSince: Date | undefined
  keepAliveMs: number
  /** Cancels the end of the keep-alive time. */
  stopTimer: () => void
  expiresAt: Date | undefined
}

/** Returns the model that was loaded according to the plan, or undefined while it is still being loaded. */
export function toLoadedModel(plan: Plan): LoadedModel | undefined {
  const { model, memoryBytes, contextLength, loadedAt } = plan
  const { requests, idleSince, keepAliveMs, expiresAt } = plan
  const status = { requests, idleSince, keepAliveMs, expiresAt }
  return loadedAt && { model, memoryBytes, contextLength, loadedAt, ...status }
}
