import { Fault } from '../errors.ts'
import type { Plan } from './loaded-model.ts'

type Wanted = Pick<Plan, 'model' | 'memoryBytes'>

const code = 'insufficient_memory'

/** Whatever else is unloaded. */
export function needsTooMuch({ model, memoryBytes }: Wanted, allowedBytes: number): Fault {
  const needed = sizeText(memoryBytes)
  const allowed = sizeText(allowedBytes)
  const message = `model ${model.id} needs ${needed} of memory, and models may take ${allowed} here`
  return new Fault(503, message, { code })
}

export function memoryInUse({ model }: Wanted): Fault {
  const message = `the memory for ${model.id} is in use by models that are answering`
  return new Fault(503, message, { code, retryAfterSeconds: 5 })
}

/** Three digits, as in `62.4 MB`: enough to see which of two sizes is the larger. */
function sizeText(bytes: number): string {
  const [value, unit] = bytes < 999.5e6 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  const decimals = value < 10 ? 2 : value < 100 ? 1 : 0
  return `${value.toFixed(decimals)} ${unit}`
}
