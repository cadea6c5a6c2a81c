import { ApiError, type ModelFile, type RegistryClient } from '@shoal/protocol/client'
import type { Printer } from '../terminal/printer.ts'

type DropOptions = {
  client: RegistryClient
  modelName: string
  files: readonly { filename: string }[]
}

/**
 * Timeout for deleting the model. It is short, because the user has just seen an error or pressed Ctrl-C and should not
 * have to wait.
 */
const timeoutMs = 5_000

/**
 * Deletes a model that a failed push has created, unless the push has sent data or another client has added files. If
 * the model cannot be deleted, prints only a note, because the push has already failed for another reason.
 */
export async function dropEmptyModel(printer: Printer, { client, modelName, files }: DropOptions) {
  const signal = AbortSignal.timeout(timeoutMs)
  const names = new Set(files.map(({ filename }) => filename))
  try {
    for (const file of await client.listFiles(modelName, { status: 'all' }, signal)) {
      if (file.status !== 'uploading' || !names.has(file.filename)) return
      const { missing_count } = await client.getUpload(modelName, file.id, { limit: 1 }, signal)
      if (missing_count < countChunks(file)) return
      await client.deleteFile(modelName, file.id, signal)
    }
    await client.deleteModel(modelName, { only_if_empty: true }, signal)
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return
    printer.note(`  The new model ${modelName} may remain on the registry without files.`)
  }
}

const countChunks = ({ file_size_bytes, chunk_size }: ModelFile) =>
  Math.ceil(file_size_bytes / chunk_size)
