import { hasCode } from '@shoal/core/errors'
import { isErrno } from '@shoal/files'
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import type { ObjectStore } from '../store/object-store.ts'

export type StoreCheck = {
  files: number
  bytes: number
  /**
   * Missing and damaged files: the expected SHA-256, the models that contain the file, its path in each of them
   * (`<model>/<filename>`), and what is wrong with the file.
   */
  problems: { sha256_hash: string; models: string[]; paths: string[]; detail: string }[]
}

/** Hashes every stored file again, and compares its size and hash with those in the database. */
export async function checkStore(
  db: Kysely<Database>,
  store: ObjectStore,
  onProgress: (bytesDone: number, bytesTotal: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<StoreCheck> {
  const blobs = await db
    .selectFrom('blob')
    .select(['sha256_hash', 'object_key', 'size_bytes'])
    .orderBy('sha256_hash')
    .execute()
  const bytesTotal = blobs.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  const check: StoreCheck = { files: 0, bytes: 0, problems: [] }
  for (const { sha256_hash, object_key, size_bytes } of blobs) {
    const detail = await findProblem(store, object_key, size_bytes, sha256_hash, signal)
    if (detail) check.problems.push({ sha256_hash, ...(await findPlaces(db, sha256_hash)), detail })
    check.files += 1
    check.bytes += size_bytes
    onProgress(check.bytes, bytesTotal)
  }
  return check
}

async function findProblem(
  store: ObjectStore,
  key: string,
  sizeBytes: number,
  expected: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const { sha256_hash, fileSizeBytes } = await store.hash(key, sizeBytes, { signal })
    if (fileSizeBytes !== sizeBytes) return `has ${fileSizeBytes} bytes, not ${sizeBytes}`
    return sha256_hash === expected ? undefined : `has the SHA-256 ${sha256_hash}`
  } catch (error) {
    signal?.throwIfAborted()
    const isMissing = isErrno(error, 'ENOENT')
    if (isMissing || hasCode(error, 'not_found')) return 'is missing'
    if (isErrno(error, 'EIO', 'EACCES', 'EPERM')) return `cannot be read: ${error.message}`
    throw error
  }
}

async function findPlaces(db: Kysely<Database>, sha256Hash: string) {
  const rows = await db
    .selectFrom('file')
    .innerJoin('model', 'model.id', 'file.model_id')
    .select(['model.name', 'file.filename'])
    .where('blob_hash', '=', sha256Hash)
    .orderBy('model.name')
    .orderBy('file.filename')
    .execute()
  return {
    models: [...new Set(rows.map(({ name }) => name))],
    paths: rows.map(({ name, filename }) => `${name}/${filename}`),
  }
}
