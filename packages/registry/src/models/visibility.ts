import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'

/** The condition for rows of `model` that the viewer may see: public models, and the viewer's own. */
export function visibleTo({ username, seesAll }: Viewer): RawBuilder<SqlBool> {
  if (seesAll) return sql`1 = 1`
  if (username === undefined) return sql`model.is_public = 1`
  return sql`(model.is_public = 1 or model.owner = ${username})`
}
