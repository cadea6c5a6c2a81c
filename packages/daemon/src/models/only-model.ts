import { Fault } from '../errors.ts'
import type { LoadedModels } from './loaded-models.ts'

/**
 * Returns the ID of the only loaded model. Clients of llama.cpp's server need not specify a model, because that server
 * has only one. Throws a `Fault` if no model or several models are loaded.
 */
export function getOnlyModel(models: LoadedModels): string {
  const [only, ...others] = models.status()
  if (only && others.length === 0) return only.model.id
  const why = only ? 'several models are loaded' : 'no model is loaded'
  throw new Fault(400, `model is required, because ${why}`, { param: 'model' })
}
