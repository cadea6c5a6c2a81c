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
  if (model.folder !== undefined) throw readOnly(id, model.folder)
  await models.unload(id)
  // Delete the first part last, because the other parts cannot be found without it.
  await removeLocalFiles(local.directory, model.paths.toReversed()).catch((error) => {
    if (hasCode(error, 'file_busy')) throw busy(id)
    if (hasCode(error, 'is_link')) throw linked(error.details)
    throw error
  })
}

function busy(id: string): Fault {
  return new Fault('model_busy', `'${id}' is being pulled or copied: try again later`, {
    param: 'model',
  })
}

/**
 * The error for a file in a read-only model folder. Removing only the reference to the file has no lasting effect,
 * because the next search adds the reference again.
 */
function readOnly(id: string, folder: string): Fault {
  const message = `'${id}' is in ${folder}, which is read-only: nothing was deleted; to stop listing the model, remove the folder from the model-folders setting`
  return new Fault('model_linked', message, { param: 'model' })
}

/** The error for a linked folder. Deleting the link would also remove the other models in the folder. */
function linked({ path, target }: ErrorDetails['is_link']): Fault {
  const message = `${path} is a link to ${target}, which contains other models too: nothing was deleted`
  return new Fault('model_linked', message, { param: 'model' })
}
