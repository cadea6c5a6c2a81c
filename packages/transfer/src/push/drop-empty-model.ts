import { ApiError, type ModelFile, type RegistryClient } from '@shoal/protocol/client'

type DropOptions = {
  client: Pick<RegistryClient, 'listFiles' | 'getUpload' | 'deleteFile' | 'deleteModel'>
  modelName: string
  /** The files whose uploads are deleted if they have no data. */
  filenames: readonly string[]
  signal?: AbortSignal
}

/**
 * Deletes a model that a failed push has created, unless the push has sent data or another client has added files. Does
 * nothing if the model does not exist. Rejects with an `ApiError` or a `NetworkError` if the registry cannot delete the
 * model.
 * @example
 * import { dropEmptyModel } from '@shoal/transfer/push'
 *
 * await client.createModel({ name: 'abandoned' })
 * await dropEmptyModel({ client, modelName: 'abandoned', filenames: ['tide-q4.gguf'] })
 */
export async function dropEmptyModel({ client, modelName, filenames, signal }: DropOptions) {
  try {
    for (const file of await client.listFiles(modelName, { status: 'all' }, signal)) {
      if (file.status !== 'uploading' || !filenames.includes(file.filename)) return
      const { missing_count } = await client.getUpload(modelName, file.id, { limit: 1 }, signal)
      if (missing_count < countChunks(file)) return
      await client.deleteFile(modelName, file.id, signal)
    }
    await client.deleteModel(modelName, { only_if_empty: true }, signal)
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return
    throw error
  }
}

const countChunks = ({ file_size_bytes, chunk_size }: ModelFile) =>
  Math.ceil(file_size_bytes / chunk_size)
