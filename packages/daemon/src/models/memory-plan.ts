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
export const isBusy = ({ requests }: Pick<Sharer, 'requests'>) => requests > 0

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
 * Returns the models to unload so that the wanted model fits: idle ones first, and then busy ones, in each case those
 * that were used least recently. Throws a `Fault` if the wanted model is too large.
 */
export function chooseToUnload<T extends Sharer>(
  wanted: Sharer & Pick<Plan, 'model'>,
  all: readonly T[],
  { memoryBytes }: Pick<Memory, 'memoryBytes'>,
): T[] {
  if (wanted.memoryBytes > memoryBytes) {
    const [needed, allowed] = [formatBytes(wanted.memoryBytes), formatBytes(memoryBytes)]
    const message = `model ${wanted.model.id} needs ${needed} of memory, but models on this machine may use at most ${allowed}`
    throw new Fault('insufficient_memory', message)
  }
  const others = all.filter((one) => one !== wanted && one.loadedAt)
  const inOrder = others.toSorted(
    (a, b) => Number(isBusy(a)) - Number(isBusy(b)) || a.usedAt - b.usedAt,
  )
  let excessBytes = sumBytes(others) + wanted.memoryBytes - memoryBytes
  const chosen: T[] = []
  for (const one of inOrder) {
    if (excessBytes <= 0) break
    chosen.push(one)
    excessBytes -= one.memoryBytes
  }
  return chosen
}

/** Plans the cache for conversations without a slot, which uses part of the memory that the model leaves free. */
export function planPromptCache(wanted: Plan, all: readonly Sharer[], memory: Memory) {
  const maxBytes = Math.min(maxPromptCacheBytes, countLeftBytes(wanted, all, memory) / 4)
  return { maxBytes, bytesPerToken: wanted.bytesPerToken }
}

/** Plans the context for embeddings, which uses part of the memory that the model leaves free. */
export const planEmbeddings = (wanted: Plan, all: readonly Sharer[], memory: Memory) =>
  countLeftBytes(wanted, all, memory) / 2

function countLeftBytes(wanted: Plan, all: readonly Sharer[], memory: Memory): number {
  const unplannedBytes = memory.memoryBytes - sumBytes(all)
  return Math.max(0, Math.min(unplannedBytes, memory.freeBytes - wanted.memoryBytes))
}
