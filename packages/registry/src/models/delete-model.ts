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
 * Deletes a model with its files: the bytes of uploads, which count against the quota for as long as there is a row, then the rows, then
 * the other bytes. What a crash in between leaves is collected later.
 */
export async function deleteModel({ models, collect }: ModelDeletion, modelId: string) {
  await collect.giveUpAll(modelId)
  for (const file of await models.delete(modelId)) await collect.removeFileBytes(file)
}
