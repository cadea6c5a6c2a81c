import type { FileRepository } from './file-repository.ts'
import type { GarbageCollection } from './garbage-collection.ts'

type Dependencies = { files: FileRepository; collect: GarbageCollection }

/** Deletes a file or gives up its upload: first the row, then the bytes. What a crash in between leaves is collected later. */
export async function deleteFile(
  { files, collect }: Dependencies,
  file: { id: string; model_id: string },
) {
  const removed = await files.remove(file)
  if (removed) await collect.removeBytesOf(removed)
}
