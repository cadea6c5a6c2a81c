import { type ErrorDetails, hasCode } from '@shoal/core/errors'
import { removeLocalFiles } from '@shoal/transfer'
import { Fault, modelNotFound } from '../errors.ts'
import type { LoadedModels } from './loaded-models.ts'
import type { LocalModels } from './local-models.ts'

type Dependencies = { local: LocalModels; models: LoadedModels }

/** Unloads a model and deletes all its files. */
export async function removeModel({ local, models }: Dependencies, id: string): Promise<void> {
  const model = await local.find(id)
  if (!model) throw modelNotFound(id)
  await models.unload(id)
  // The first part last: without it, the others could not be found.
  await removeLocalFiles(local.directory, model.paths.toReversed()).catch((error) => {
    if (hasCode(error, 'file_busy')) throw busy(id)
    if (hasCode(error, 'is_link')) throw linked(error.details)
    throw error
  })
}

function busy(id: string): Fault {
  return new Fault('model_busy', `'${id}' is being pulled or copied`, { param: 'model' })
}

/** Without the link the other models in the folder would be gone as well. */
function linked({ path, target }: ErrorDetails['is_link']): Fault {
  const message = `${path} is a link to ${target}, which contains other models too: nothing was deleted`
  return new Fault('model_linked', message, { param: 'model' })
}
