import type { FileRepository } from '../rows/file-repository.ts'
import type { GarbageCollection } from './garbage-collection.ts'

type Dependencies = { files: FileRepository; collect: GarbageCollection }

/**
 * Deletes a file or gives up its upload. The bytes of an upload go first: they count against the quota for as long as there is a row.
 * Of a ready file the row goes first, and what a crash leaves is collected later.
 */
export async function deleteFile(
  { files, collect }: Dependencies,
  file: { id: string; model_id: string },
) {
  await collect.giveUp(file.id, 'cancel')
  const removed = await files.remove(file)
  if (removed) await collect.removeFileBytes(removed)
}
