import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'

/**
 * The SQL condition for rows of `model` that the viewer may see: public models and the viewer's own, or all models if
 * `seesAll` is true.
 */
export function visibleTo({ username, seesAll }: Viewer): RawBuilder<SqlBool> {
  if (seesAll) return sql`1 = 1`
  if (username === undefined) return sql`model.is_public = 1`
  return sql`(model.is_public = 1 or model.owner = ${username})`
}

/** Like `visibleTo`, but with placeholders for the values that `toViewerValues` returns. */
export function visibleToOne(viewer: {
  username: RawBuilder<string | null>
  seesAll: RawBuilder<number>
}): RawBuilder<SqlBool> {
  return sql`(model.is_public = 1 or model.owner = ${viewer.username} or ${viewer.seesAll} = 1)`
}

export function toViewerValues({ username, seesAll }: Viewer) {
  return { username: username ?? null, seesAll: seesAll ? 1 : 0 }
}
