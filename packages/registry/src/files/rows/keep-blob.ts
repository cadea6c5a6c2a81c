import type { FileHashes } from '@shoal/model-file'
import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database } from '../../database/schema.ts'
import { addToTrash } from './trash.ts'

/** Maximum number of chunk rows in one insert statement. */
const batchSize = 2_000

/**
 * Locks a blob's row until the transaction ends. Returns the key of the blob's object, or undefined if the row does not
 * exist. Take this lock before making a file refer to the blob, and before deleting an unused blob, so that these two
 * operations cannot race. A transaction that also locks a model's row must lock the model first.
 */
export async function lockBlob(
  trx: Kysely<Database>,
  sha256Hash: string,
): Promise<string | undefined> {
  const blob = await trx
    .updateTable('blob')
    .set({ size_bytes: sql`size_bytes` })
    .where('sha256_hash', '=', sha256Hash)
    .returning('object_key')
    .executeTakeFirst()
  return blob?.object_key
}

/**
 * Turns an upload's object into a blob, unless there is already a blob with the same bytes whose object is not lost.
 */
export async function keepBlob(
  trx: Kysely<Database>,
  objectKey: string,
  { hashes, lostKey }: { hashes: FileHashes; lostKey: string | undefined },
): Promise<void> {
  if (await insertBlob(trx, objectKey, hashes)) return
  // A blob with the same bytes exists. Its object is kept if it is still in the store. The caller then removes the new
  // object.
  const storedKey = await lockBlob(trx, hashes.sha256_hash)
  if (storedKey === undefined) return keepBlob(trx, objectKey, { hashes, lostKey }) // deleted in the meantime
  if (storedKey !== lostKey) return
  const lost = { objectKey: lostKey, sizeBytes: hashes.fileSizeBytes }
  await addToTrash(trx, lost, 'replaced') // parts of the lost object may remain
  await trx
    .updateTable('blob')
    .set({ object_key: objectKey })
    .where('sha256_hash', '=', hashes.sha256_hash)
    .execute()
}

/** Inserts the rows of a blob and its chunks. Returns false if the blob already exists. */
async function insertBlob(
  trx: Kysely<Database>,
  objectKey: string,
  hashes: FileHashes,
): Promise<boolean> {
  const { sha256_hash, chunkHashes } = hashes
  const inserted = await trx
    .insertInto('blob')
    .values({
      sha256_hash,
      object_key: objectKey,
      size_bytes: hashes.fileSizeBytes,
      chunk_size: hashes.chunkSize,
      chunk_hashes: chunkHashes,
      piece_length: hashes.pieceLength,
      piece_hashes: hashes.pieceHashes,
      created_at: databaseTime(trx),
    })
    .onConflict((exists) => exists.column('sha256_hash').doNothing())
    .executeTakeFirstOrThrow()
  if (inserted.numInsertedOrUpdatedRows === 0n) return false

  const rows = Array.from({ length: chunkHashes.length / 32 }, (_, chunk_index) => ({
    hash: chunkHashes.slice(chunk_index * 32, chunk_index * 32 + 32),
    sha256_hash,
    chunk_index,
  }))
  for (let at = 0; at < rows.length; at += batchSize) {
    await trx
      .insertInto('blob_chunk')
      .values(rows.slice(at, at + batchSize))
      .onConflict((exists) => exists.doNothing()) // rows may remain from a blob whose own row was lost
      .execute()
  }
  return true
}
