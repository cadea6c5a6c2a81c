import { FileBusyError, removeLocalFile } from '@shoal/transfer'
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
  for (const path of model.paths.toReversed()) {
    await removeLocalFile(path).catch((error) => {
      throw error instanceof FileBusyError ? busy(id) : error
    })
  }
}

function busy(id: string): Fault {
  return new Fault(409, `'${id}' is being pulled or copied`, { code: 'model_busy', param: 'model' })
}
