import type { FileRepository } from '../rows/file-repository.ts'
import type { GarbageCollection } from './garbage-collection.ts'

type Dependencies = { files: FileRepository; collect: GarbageCollection }

/**
 * Deletes a file or cancels its upload. The bytes of an upload are removed before its row, since they count against the
 * quota as long as the row exists. For a ready file, the row is deleted first; if a crash interrupts this, garbage
 * collection removes the bytes.
 */
export async function deleteFile(
  { files, collect }: Dependencies,
  file: { id: string; model_id: string },
) {
  await collect.giveUp(file.id, 'cancel')
  const removed = await files.remove(file)
  if (removed) await collect.removeFileBytes(removed)
}
