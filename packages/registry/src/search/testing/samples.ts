import type { IndexedModel } from '../indexed-model.ts'
import type { SearchQuery } from '../search-index.ts'

/** An anonymous query for the ten public models with the most downloads. */
export const sampleQuery: SearchQuery = {
  labels: [],
  ranges: [],
  viewer: { username: undefined, seesAll: false },
  sort: 'downloads',
  order: 'desc',
  offset: 0,
  limit: 10,
}

/** Returns a public model of `ana`, without files. */
export function sampleModel(seq: number, changes: Partial<IndexedModel> = {}): IndexedModel {
  return {
    seq,
    id: `00000000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    name: `model-${seq}`,
    displayName: `Model ${seq}`,
    description: null,
    owner: 'ana',
    architecture: null,
    license: null,
    tags: [],
    quantizations: [],
    isPublic: true,
    createdAt: '2026-01-01T00:00:00.000Z',
    downloads: 0,
    likes: 0,
    parameterCount: null,
    minFileSizeBytes: null,
    minMemoryBytes: null,
    cacheBytesPerToken: null,
    contextLength: null,
    filesCount: 0,
    totalSizeBytes: 0,
    ...changes,
  }
}
