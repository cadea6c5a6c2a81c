import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

const batchSize = 1_000

/**
 * Computes the identifier of a torrent in an encrypted BitTorrent connection: SHA-1('req2' + info hash), as 40
 * hexadecimal digits.
 */
export function computeReq2Hash(infoHash: string): string {
  return createHash('sha1').update('req2').update(infoHash, 'hex').digest('hex')
}

/**
 * Fills `public_req2_hash` for files that were ready before the column existed. Neither engine has a built-in SQL
 * function for SHA-1.
 */
export async function fillReq2Hashes(db: Kysely<Database>): Promise<void> {
  for (;;) {
    const files = await db
      .selectFrom('file')
      .select(['id', 'public_info_hash'])
      .where('public_info_hash', 'is not', null)
      .where('public_req2_hash', 'is', null)
      .limit(batchSize)
      .execute()
    for (const { id, public_info_hash } of files) {
      await db
        .updateTable('file')
        .set({ public_req2_hash: computeReq2Hash(public_info_hash ?? '') })
        .where('id', '=', id)
        .execute()
    }
    if (files.length < batchSize) return
  }
}
