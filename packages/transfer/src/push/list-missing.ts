import type { MissingChunk, Upload } from '@shoal/protocol/client'
import type { UnhashedPush } from './push-options.ts'

const pageSize = 1000

/**
 * Lists all chunks that the registry does not have. `first` is the response that started the upload; it contains the
 * first page.
 */
export async function listMissing(
  { client, modelName, retrier, signal }: UnhashedPush,
  fileId: string,
  first?: Upload,
): Promise<MissingChunk[]> {
  const missing = [...(first?.missing_chunks ?? [])]
  const total = first?.missing_count ?? Number.POSITIVE_INFINITY
  while (missing.length < total) {
    const query = { from: (missing.at(-1)?.index ?? -1) + 1, limit: pageSize }
    const page = await retrier.call(() => client.getUpload(modelName, fileId, query, signal))
    missing.push(...page.missing_chunks)
    if (page.missing_chunks.length < pageSize) break
  }
  return missing
}

/** Returns the chunk with a new URL; undefined if the registry already has the chunk. */
export async function findMissingChunk(
  { client, modelName, retrier, signal }: UnhashedPush,
  fileId: string,
  { index }: MissingChunk,
): Promise<MissingChunk | undefined> {
  const query = { from: index, limit: 1 }
  const ask = () => client.getUpload(modelName, fileId, query, signal)
  // Learning that the chunk is still missing is not progress, so the response does not reset the timeout.
  const page = await retrier.call(ask, { isProgress: false })
  return page.missing_chunks.find((chunk) => chunk.index === index)
}
