import type { Note } from '../../audit/audit-log.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import type { GarbageCollection } from './garbage-collection.ts'

type Dependencies = { files: FileRepository; collect: GarbageCollection }

/**
 * Deletes a file or cancels its upload. An upload's bytes are removed before its row, because the bytes count against
 * the quota only while the row exists. For a ready file, the row is deleted first; if a crash follows, garbage
 * collection moves the bytes to the trash.
 */
export async function deleteFile(
  { files, collect }: Dependencies,
  file: { id: string; model_id: string },
  note?: Note,
) {
  await collect.giveUp(file.id, 'cancel')
  const removed = await files.remove(file, note)
  if (removed) await collect.removeFileBytes(removed)
}
