import { type Caller, callerWith, isActingAdmin, toViewer } from '../accounts/caller.ts'
import { forbidden } from '../errors.ts'
import type { ModelRepository, ModelRow } from './model-repository.ts'

/** Returns the model. Throws unless the caller is its owner, a member who can write, or an administrator. */
export async function ownModel(
  models: ModelRepository,
  id: string,
  caller: Caller | undefined,
): Promise<ModelRow> {
  const who = callerWith('write', caller)
  const model = await models.getRowToChange(id, toViewer(caller, 'write'))
  if (mayChange(model, who)) return model
  throw forbidden(
    `only ${model.owner}, members who can write, and administrators can change ${model.name}`,
  )
}

/** Whether the caller may change the model, which must have been read with this caller as the viewer. */
export function mayChange(model: ModelRow, caller: Caller | undefined): boolean {
  if (!caller?.credential.scopes.includes('write')) return false
  return isOwnerOrAdmin(model, caller) || model.member_can_write === 1
}

/**
 * Returns the model. Throws unless the caller is the owner or an administrator. Only they may decide who else can see
 * or change the model.
 */
export async function managedModel(
  models: ModelRepository,
  id: string,
  caller: Caller | undefined,
): Promise<ModelRow> {
  const who = callerWith('write', caller)
  const model = await models.getRowToChange(id, toViewer(caller, 'write'))
  if (isOwnerOrAdmin(model, who)) return model
  throw forbidden(`only ${model.owner} and administrators can change the members of ${model.name}`)
}

const isOwnerOrAdmin = (model: ModelRow, who: Caller): boolean =>
  model.owner === who.username || isActingAdmin(who)
