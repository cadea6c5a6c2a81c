import type { MissingChunk, Upload } from '@shoal/protocol/client'
import type { Push } from './push-file.ts'

const pageSize = 1000

/** Every chunk that the registry misses; `first` is the page it gave unasked. */
export async function listMissing(
  { client, modelName, signal }: Push,
  fileId: string,
  first?: Upload,
): Promise<MissingChunk[]> {
  const missing = [...(first?.missing_chunks ?? [])]
  const total = first?.missing_count ?? Number.POSITIVE_INFINITY
  while (missing.length < total) {
    const query = { from: (missing.at(-1)?.index ?? -1) + 1, limit: pageSize }
    const page = await client.getUpload(modelName, fileId, query, signal)
    missing.push(...page.missing_chunks)
    if (page.missing_chunks.length < pageSize) break
  }
  return missing
}
