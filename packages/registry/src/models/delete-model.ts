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
 * Deletes a model with its files: first the bytes of uploads, which count against the quota as long as they have a row,
 * then the rows, then the other bytes. If a crash interrupts this, garbage collection removes the rest.
 */
export async function deleteModel({ models, collect }: ModelDeletion, modelId: string) {
  await collect.giveUpAll(modelId)
  for (const file of await models.delete(modelId)) await collect.removeFileBytes(file)
}
