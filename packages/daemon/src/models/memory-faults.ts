import { formatBytes } from '@shoal/core/units'
import { Fault } from '../errors.ts'
import type { Plan } from './loaded-model.ts'

type Wanted = Pick<Plan, 'model' | 'memoryBytes'>

/** The error for a model that would not fit even if all others were unloaded. */
export function needsTooMuch({ model, memoryBytes }: Wanted, allowedBytes: number): Fault {
  const needed = formatBytes(memoryBytes)
  const allowed = formatBytes(allowedBytes)
  const message = `model ${model.id} needs ${needed} of memory, but models on this machine may use at most ${allowed}`
  return new Fault('insufficient_memory', message)
}

export function memoryInUse({ model }: Wanted): Fault {
  const message = `models that are answering requests are using the memory that ${model.id} needs: try again later`
  return new Fault('insufficient_memory', message, { retryAfterSeconds: 5 })
}
