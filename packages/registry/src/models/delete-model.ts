import type { Note } from '../audit/audit-log.ts'
import type { FileBytes } from '../database/schema.ts'
import type { ModelRepository } from './model-repository.ts'

export type ModelDeletion = {
  models: ModelRepository
  collect: {
    removeFileBytes(file: FileBytes): Promise<void>
    giveUpAll(modelId: string): Promise<void>
  }
}

/**
 * Deletes a model with its files. The bytes of unfinished uploads are deleted first: they count against the quota only
 * while their rows exist, and must be counted for as long as they take disk space. The rows are deleted next, and the
 * bytes of complete files last. If a crash interrupts the deletion, garbage collection removes the rest.
 */
export async function deleteModel({ models, collect }: ModelDeletion, modelId: string, note: Note) {
  await collect.giveUpAll(modelId)
  for (const file of await models.delete(modelId, note)) await collect.removeFileBytes(file)
}
