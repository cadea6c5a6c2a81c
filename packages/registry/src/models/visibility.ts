import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'

/**
 * Returns the SQL condition for the rows of `model` that the viewer may see. If `seesAll` is true, these are all
 * models. Otherwise, they are public models, the viewer's own models, and models that are shared with the viewer.
 */
export function visibleTo(viewer: Viewer): RawBuilder<SqlBool> {
  const { seesAll, username, memberId } = toViewerValues(viewer)
  if (seesAll === 1) return sql`1 = 1`
  if (username === null) return sql`model.is_public = 1`
  return sql`(model.is_public = 1 or model.owner = ${username} or ${isMember(sql`${memberId}`)})`
}

/** Like `visibleTo`, but with placeholders for the values that `toViewerValues` returns. */
export function visibleToOne(viewer: {
  username: RawBuilder<string | null>
  memberId: RawBuilder<string | null>
  seesAll: RawBuilder<number>
}): RawBuilder<SqlBool> {
  return sql`(model.is_public = 1 or model.owner = ${viewer.username} or ${viewer.seesAll} = 1
    or ${isMember(viewer.memberId)})`
}

/**
 * Returns the values for `visibleToOne`. `memberId` is the viewer's account ID, or null if the viewer sees only public
 * models.
 */
export function toViewerValues({ accountId, username, seesAll }: Viewer) {
  return {
    username: username ?? null,
    memberId: username === undefined ? null : (accountId ?? null),
    seesAll: seesAll ? 1 : 0,
  }
}

const isMember = (accountId: RawBuilder<string | null>): RawBuilder<SqlBool> => sql`exists (
  select 1 from model_member where model_member.model_id = model.id and model_member.account_id = ${accountId})`
