import type { AuditEntry } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import type { Actor } from './actor.ts'

/** What an action affects. */
export type Subject = { kind: AuditEntry['subject_kind']; name: string }

/** Records an action in the transaction that performs it, so that neither is committed without the other. */
export type Note = (trx: Kysely<Database>) => Promise<void>

export const user = (name: string): Subject => ({ kind: 'user', name })
export const model = (name: string): Subject => ({ kind: 'model', name })

/** Returns a function that records an action. `detail` must not contain secrets. */
export const note =
  (actor: Actor, action: AuditEntry['action'], subject: Subject, detail: object = {}): Note =>
  async (trx) => {
    await trx
      .insertInto('audit')
      .values({
        at: databaseTime(trx),
        action,
        actor: actor.username,
        credential: actor.credential,
        address: actor.address,
        subject_kind: subject.kind,
        subject: subject.name,
        detail: JSON.stringify(detail),
      })
      .execute()
  }

export type AuditQuery = {
  /** Only entries before this sequence number are returned. */
  before?: number | undefined
  /** Only entries after this sequence number are returned, oldest first. */
  after?: number | undefined
  limit: number
  actor?: string | undefined
  subject?: string | undefined
  action?: string | undefined
}

/** Returns entries, newest first, or oldest first if `after` is given. */
export async function listAudit(db: Kysely<Database>, query: AuditQuery): Promise<AuditEntry[]> {
  const { before, after, limit, actor, subject, action } = query
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .$if(before !== undefined, (some) => some.where('seq', '<', before ?? 0))
    .$if(after !== undefined, (some) => some.where('seq', '>', after ?? 0))
    .$if(actor !== undefined, (some) => some.where('actor', '=', actor ?? ''))
    .$if(subject !== undefined, (some) => some.where('subject', '=', subject ?? ''))
    .$if(action !== undefined, (some) => some.where('action', '=', action ?? ''))
    .orderBy('seq', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return rows.map(({ detail, ...row }) => ({
    ...row,
    action: row.action as AuditEntry['action'],
    subject_kind: row.subject_kind as AuditEntry['subject_kind'],
    detail: JSON.parse(detail),
  }))
}
