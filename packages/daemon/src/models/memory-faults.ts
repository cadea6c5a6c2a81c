import { formatBytes } from '@shoal/core/units'
import { Fault } from '../errors.ts'
import type { Plan } from './loaded-model.ts'

type Wanted = Pick<Plan, 'model' | 'memoryBytes'>

/** Even if everything else is unloaded. */
export function needsTooMuch({ model, memoryBytes }: Wanted, allowedBytes: number): Fault {
  const needed = formatBytes(memoryBytes)
  const allowed = formatBytes(allowedBytes)
  const message = `model ${model.id} needs ${needed} of memory, and models may take ${allowed} here`
  return new Fault('insufficient_memory', message)
}

export function memoryInUse({ model }: Wanted): Fault {
  const message = `the memory for ${model.id} is in use by models that are answering`
  return new Fault('insufficient_memory', message, { retryAfterSeconds: 5 })
}
