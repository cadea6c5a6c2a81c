import { type Caller, callerWith, isActingAdmin, toViewer } from '../accounts/caller.ts'
import { forbidden } from '../errors.ts'
import type { ModelRepository, ModelRow } from './model-repository.ts'

/** Returns the model. Throws unless the caller may change it: only the model's owner and admins may. */
export async function ownModel(
  models: ModelRepository,
  id: string,
  caller: Caller | undefined,
): Promise<ModelRow> {
  const who = callerWith('write', caller)
  const model = await models.getRow(id, toViewer(caller, 'write'))
  if (model.owner !== who.username && !isActingAdmin(who)) {
    throw forbidden(`only ${model.owner} and admins can change ${model.name}`)
  }
  return model
}
