import type { ContextPlan } from './contexts.ts'
import type { LocalModel } from './local-models.ts'

export type LoadedModel = {
  model: LocalModel
  memoryBytes: number
  contextLength: number
  loadedAt: Date
  /** Requests running or waiting. */
  requests: number
  /** Idle since then; undefined while requests are running or waiting. */
  idleSince: Date | undefined
  /** How long it stays loaded after its last answer; negative: forever. */
  keepAliveMs: number
  /** When it will be unloaded if there are no requests; undefined while there are, or if it stays forever. */
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
  timer: NodeJS.Timeout | undefined
  expiresAt: Date | undefined
}

/** Undefined while it is still being loaded. */
export function toLoadedModel(plan: Plan): LoadedModel | undefined {
  const { model, memoryBytes, contextLength, loadedAt } = plan
  const { requests, idleSince, keepAliveMs, expiresAt } = plan
  const status = { requests, idleSince, keepAliveMs, expiresAt }
  return loadedAt && { model, memoryBytes, contextLength, loadedAt, ...status }
}
