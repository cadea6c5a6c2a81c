import type { UserRemoval } from '@shoal/protocol'
import type { Actor } from '../audit/actor.ts'
import { model, note } from '../audit/audit-log.ts'
import { conflict, unprocessable } from '../errors.ts'
import { deleteModel, type ModelDeletion } from '../models/delete-model.ts'
import { lockModel } from '../models/lock-model.ts'
import type { PeopleRepository } from './people-repository.ts'

type Dependencies = ModelDeletion & { people: PeopleRepository }

/**
 * Removes an account, after disabling it and giving its models to another account or deleting them. An interrupted
 * removal can be repeated.
 * @throws conflict if the account still owns models, or if no active administrator would remain
 */
export async function removeUser(
  { people, models, collect }: Dependencies,
  username: string,
  { give_to, delete_models = false }: UserRemoval,
  actor: Actor,
): Promise<void> {
  if (give_to !== undefined && delete_models) {
    throw unprocessable('give_to and delete_models cannot be combined', {
      errors: [{ path: '/delete_models', message: 'cannot be combined with give_to' }],
    })
  }
  await people.requireRemovable(username, { to: give_to, areDeleted: delete_models })
  await people.change(username, { is_disabled: true }, actor) // so that it cannot create models in the meantime
  if (give_to !== undefined) await people.giveModels(username, give_to, actor)
  if (delete_models) {
    for (const { id, name } of await people.listModels(username)) {
      await deleteModel({ models, collect }, id, async (trx) => {
        const row = await lockModel(trx, id)
        if (row.owner !== username.toLowerCase()) {
          throw conflict(`the owner of ${name} has just changed: try again`)
        }
        await note(actor, 'model.deleted', model(name))(trx)
      })
    }
  }
  await people.remove(username, actor)
}
