import type { BytesOfFile } from '../files/garbage-collection.ts'
import type { ModelRepository } from './model-repository.ts'

export type ModelDeletion = {
  models: ModelRepository
  collect: { removeBytesOf(file: BytesOfFile): Promise<void> }
}

/** Deletes a model with its files: first the rows, then the bytes. What a crash in between leaves is collected later. */
export async function deleteModel({ models, collect }: ModelDeletion, modelId: string) {
  for (const file of await models.delete(modelId)) await collect.removeBytesOf(file)
}
