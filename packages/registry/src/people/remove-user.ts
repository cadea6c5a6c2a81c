import type { UserRemoval } from '@shoal/protocol'
import type { Actor } from '../audit/actor.ts'
import { model, note } from '../audit/audit-log.ts'
import { unprocessable } from '../errors.ts'
import { deleteModel, type ModelDeletion } from '../models/delete-model.ts'
import type { PeopleRepository } from './people-repository.ts'

type Dependencies = ModelDeletion & { people: PeopleRepository }

/**
 * Removes an account, after giving its models to another account or deleting them. An interrupted removal can be
 * repeated.
 * @throws conflict if the account still owns models, or if no active admin would remain
 */
export async function removeUser(
  { people, models, collect }: Dependencies,
  username: string,
  { give_to, delete_models = false }: UserRemoval,
  actor: Actor,
): Promise<void> {
  if (give_to !== undefined && delete_models) {
    throw unprocessable('give_to and delete_models exclude each other', {
      errors: [{ path: '/delete_models', message: 'excludes give_to' }],
    })
  }
  await people.requireRemovable(username)
  if (give_to !== undefined) await people.giveModels(username, give_to, actor)
  if (delete_models) {
    for (const { id, name } of await people.listModels(username)) {
      await deleteModel({ models, collect }, id, note(actor, 'model.deleted', model(name)))
    }
  }
  await people.remove(username, actor)
}
