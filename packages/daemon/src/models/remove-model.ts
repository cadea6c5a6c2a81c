import { FileBusyError, LinkError, removeLocalFiles } from '@shoal/transfer'
import { Fault, modelNotFound } from '../errors.ts'
import type { LoadedModels } from './loaded-models.ts'
import type { LocalModels } from './local-models.ts'

type Dependencies = { local: LocalModels; models: LoadedModels }

/** Unloads a model and deletes all its files. */
export async function removeModel({ local, models }: Dependencies, id: string): Promise<void> {
  const model = await local.find(id)
  if (!model) throw modelNotFound(id)
  await models.unload(id)
  // The first part last: with it gone, nobody would find the others.
  await removeLocalFiles(local.directory, model.paths.toReversed()).catch((error) => {
    if (error instanceof FileBusyError) throw busy(id)
    if (error instanceof LinkError) throw linked(error)
    throw error
  })
}

function busy(id: string): Fault {
  return new Fault(409, `'${id}' is being pulled or copied`, { code: 'model_busy', param: 'model' })
}

/** Without the link the other models in the folder would be gone as well. */
function linked({ path, target }: LinkError): Fault {
  const message = `${path} is a link to ${target}, which holds other models too: nothing was deleted`
  return new Fault(409, message, {
    code: 'model_linked',
    param: 'model',
  })
}
