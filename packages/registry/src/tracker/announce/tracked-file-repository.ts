import type { Kysely } from 'kysely'
import type { Database } from '../../database/schema.ts'

export function trackedFileRepository(db: Kysely<Database>) {
  return {
    /** Whether a public model has a ready file with this torrent. */
    async isPublic(infoHash: string): Promise<boolean> {
      const found = await db
        .selectFrom('file')
        .innerJoin('model', 'model.id', 'file.model_id')
        .select('file.id')
        .where('file.public_info_hash', '=', infoHash)
        .where('file.status', '=', 'ready')
        .where('model.is_public', '=', 1)
        .limit(1)
        .executeTakeFirst()
      return found !== undefined
    },
  }
}
