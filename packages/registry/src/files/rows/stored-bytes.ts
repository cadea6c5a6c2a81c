import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/schema.ts'
import { endedBadly } from './file-states.ts'

/**
 * The SQL expression for the total size of an account's files and uploads in bytes, as it counts against the quota. The
 * bytes of failed and expired files count until they are removed. `exceptId` is the ID of a file that is not counted.
 */
export const storedBytesOf = (
  username: string | Expression<unknown>,
  exceptId?: string,
): RawBuilder<number> => sql`(
  select cast(coalesce(sum(file_size_bytes), 0) as bigint)
  from file inner join model on model.id = file.model_id
  where model.owner = ${username}
    and (file.status not in (${sql.join(endedBadly)}) or file.object_key is not null)
    ${exceptId === undefined ? sql`` : sql`and file.id <> ${exceptId}`}
)`

export async function storedBytes(
  db: Kysely<Database>,
  username: string,
  exceptId?: string,
): Promise<number> {
  const { rows } = await sql<{
    used: number
  }>`select ${storedBytesOf(username, exceptId)} as used`.execute(db)
  return Number(rows[0]?.used)
}
