import { type Caller, callerWith, isActingAdmin, toViewer } from '../accounts/caller.ts'
import { forbidden } from '../errors.ts'
import type { ModelRepository, ModelRow } from './model-repository.ts'

/** The model, if the caller may change it: only its owner and admins can. */
export async function ownModel(
  models: ModelRepository,
  id: string,
  caller: Caller | undefined,
): Promise<ModelRow> {
  const who = callerWith('write', caller)
  const model = await models.getRow(id, toViewer(caller, 'write'))
  if (model.owner !== who.username && !isActingAdmin(who)) {
    throw forbidden(`only ${model.owner} can change ${model.name}`)
  }
  return model
}
