import type { CreatedInvitation, Invitation, NewInvitation } from '@shoal/protocol'
import type { Kysely, Selectable } from 'kysely'
import { v7 as newId } from 'uuid'
import { hashToken, makeToken } from '../accounts/tokens.ts'
import type { Actor } from '../audit/actor.ts'
import { note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database, InvitationTable } from '../database/schema.ts'
import { conflict, notFound } from '../errors.ts'

/** Invitations. Each one permits one registration within seven days, even if registration is closed. */
export interface InvitationRepository {
  /** Creates an invitation. Only the result of this call contains the secret. */
  create(invitation: NewInvitation, actor: Actor): Promise<Omit<CreatedInvitation, 'url'>>
  /** Returns the invitations, newest first, including those that were used or have expired. */
  list(): Promise<Invitation[]>
  /** @throws not-found if there is no such invitation; conflict if it was used */
  revoke(id: string, actor: Actor): Promise<void>
  /** Deletes invitations that expired more than 30 days ago. The audit log still has them. */
  deleteOld(): Promise<unknown>
}

const daySeconds = 86_400
const lifetimeDays = 7
const keptDays = 30

export function invitationRepository(db: Kysely<Database>): InvitationRepository {
  return {
    async create({ note: text = null, role = 'user' }, actor) {
      const token = makeToken('invitation')
      const row = await db.transaction().execute(async (trx) => {
        const created = await trx
          .insertInto('invitation')
          .values({
            id: newId(),
            note: text,
            is_admin: role === 'admin' ? 1 : 0,
            token_hash: hashToken(token),
            created_by: actor.username,
            created_at: databaseTime(trx),
            expires_at: databaseTime(trx, lifetimeDays * daySeconds),
            used_at: null,
            used_by: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        const subject = { kind: 'invitation' as const, name: created.id }
        await note(actor, 'invitation.created', subject, { note: text, role })(trx)
        return created
      })
      return { ...toInvitation(row), token }
    },

    async list() {
      const rows = await db.selectFrom('invitation').selectAll().orderBy('id', 'desc').execute()
      return rows.map(toInvitation)
    },

    revoke: (id, actor) =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .deleteFrom('invitation')
          .where('id', '=', id)
          .returning('used_by')
          .executeTakeFirstOrThrow(() => notFound(`no invitation ${id.slice(0, 64)}`))
        if (row.used_by !== null)
          throw conflict(`the account ${row.used_by} has already used this invitation`)
        await note(actor, 'invitation.revoked', { kind: 'invitation', name: id })(trx)
      }),

    deleteOld: () =>
      db
        .deleteFrom('invitation')
        .where('expires_at', '<', databaseTime(db, -keptDays * daySeconds))
        .execute(),
  }
}

function toInvitation({
  is_admin,
  ...row
}: Omit<Selectable<InvitationTable>, 'token_hash'>): Invitation {
  const { id, note: text, created_by, created_at, expires_at, used_at, used_by } = row
  const role = is_admin === 1 ? 'admin' : 'user'
  return { id, note: text, role, created_by, created_at, expires_at, used_at, used_by }
}
