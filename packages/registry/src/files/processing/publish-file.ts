import type { ObjectStore } from '../../store/object-store.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { CheckedFile, FileRepository } from '../rows/file-repository.ts'
import type { FileRow } from '../rows/file-row.ts'

type Dependencies = { files: FileRepository; blobs: BlobRepository; store: ObjectStore }

/**
 * Makes a checked file ready. If the same bytes were already stored, the existing copy is kept. If the store has lost
 * that copy, the new copy replaces it. Throws if `holder` has lost the lease.
 */
export async function publishFile(
  { files, blobs, store }: Dependencies,
  file: FileRow,
  holder: string,
  checked: CheckedFile,
) {
  const stored = await blobs.find(file.sha256_hash)
  const isLost = stored && !(await store.hasObject(stored.object_key, stored.size_bytes))
  await files.publish(file, holder, { ...checked, lostKey: isLost ? stored.object_key : undefined })
}
