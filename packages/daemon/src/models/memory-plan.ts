/**
 * Decides how the models share the memory: how much a model may use, and which idle models must be unloaded for it.
 * Loads and unloads nothing.
 */
import { formatBytes } from '@shoal/core/units'
import { Fault } from '../errors.ts'
import type { ContextPlan } from './contexts.ts'
import type { Plan } from './loaded-model.ts'

export type Memory = {
  /** The memory for all models together. */
  memoryBytes: number
  /** The memory of the machine or container that is free now. */
  freeBytes: number
}

/** The part of a model's plan on which the decisions depend. */
type Sharer = Pick<Plan, 'memoryBytes' | 'requests' | 'loadedAt' | 'usedAt'>

const maxPromptCacheBytes = 8e9

const sumBytes = (all: readonly Sharer[]) => all.reduce((sum, one) => sum + one.memoryBytes, 0)
const isBusy = ({ requests }: Sharer) => requests > 0

/** The memory that a new model may use, including the memory of idle models, which can be unloaded. */
export function countUsableBytes(all: readonly Sharer[], memory: Memory): number {
  const idleBytes = sumBytes(all.filter((one) => !isBusy(one) && one.loadedAt))
  return Math.min(memory.memoryBytes - sumBytes(all.filter(isBusy)), memory.freeBytes + idleBytes)
}

/** Whether an idle model can be reloaded with a longer context, while all models in use stay loaded. */
export function canGrow(
  idle: ContextPlan,
  longer: ContextPlan,
  all: readonly Sharer[],
  { memoryBytes }: Pick<Memory, 'memoryBytes'>,
): boolean {
  if (idle.contextLength >= longer.contextLength) return false
  return sumBytes(all.filter(isBusy)) + longer.memoryBytes <= memoryBytes
}

/**
 * Returns the idle model to unload first so that the wanted model fits, which is the least recently used one; undefined
 * if the wanted model fits. Throws a `Fault` if the wanted model is too large, or if too few models are idle.
 */
export function chooseToUnload<T extends Sharer>(
  wanted: Sharer & Pick<Plan, 'model'>,
  all: readonly T[],
  { memoryBytes }: Pick<Memory, 'memoryBytes'>,
): T | undefined {
  if (wanted.memoryBytes > memoryBytes) {
    const [needed, allowed] = [formatBytes(wanted.memoryBytes), formatBytes(memoryBytes)]
    const message = `model ${wanted.model.id} needs ${needed} of memory, but models on this machine may use at most ${allowed}`
    throw new Fault('insufficient_memory', message)
  }
  const others = all.filter((one) => one !== wanted && one.loadedAt)
  if (sumBytes(others) + wanted.memoryBytes <= memoryBytes) return undefined
  const [oldest] = others.filter((one) => !isBusy(one)).toSorted((a, b) => a.usedAt - b.usedAt)
  if (oldest) return oldest
  const message = `models that are answering requests are using the memory that ${wanted.model.id} needs: try again later`
  throw new Fault('insufficient_memory', message, { retryAfterSeconds: 5 })
}

/** Plans the cache for conversations without a slot, which uses part of the memory that the model leaves free. */
export function planPromptCache(wanted: Plan, all: readonly Sharer[], memory: Memory) {
  const unplannedBytes = memory.memoryBytes - sumBytes(all)
  const leftBytes = Math.max(0, Math.min(unplannedBytes, memory.freeBytes - wanted.memoryBytes))
  const maxBytes = Math.min(maxPromptCacheBytes, leftBytes / 4)
  return { maxBytes, bytesPerToken: wanted.bytesPerToken }
}
