import type { FileRow } from '../files/file-repository.ts'
import type { ModelRepository } from './model-repository.ts'

export type ModelDeletion = {
  models: ModelRepository
  files: { list(modelId: string, status: 'all'): Promise<FileRow[]> }
  collect: { removeBytesOf(file: FileRow): Promise<void> }
}

/** Deletes a model with its files: first the rows, then the bytes. What a crash in between leaves is collected later. */
export async function deleteModel({ models, files, collect }: ModelDeletion, modelId: string) {
  const rows = await files.list(modelId, 'all')
  await models.delete(modelId)
  for (const file of rows) await collect.removeBytesOf(file)
}
