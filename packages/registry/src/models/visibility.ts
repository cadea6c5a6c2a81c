import type { ExpressionBuilder } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'

/** Holds for the rows of `model` that the viewer may see: the public ones, and its own. */
export function visibleTo(viewer: Viewer) {
  return (row: ExpressionBuilder<Database, 'model'>) => {
    const { username, seesAll } = viewer
    if (seesAll) return row.lit(true)
    const isPublic = row('model.is_public', '=', 1)
    return username === undefined ? isPublic : row.or([isPublic, row('model.owner', '=', username)])
  }
}
