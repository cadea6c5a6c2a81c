import type { GgufRole } from '../gguf/roles.ts'
import { type FileLike, fileChoices, missingParts } from './file-choices.ts'

type ReadyFile = FileLike & {
  role: GgufRole | null
  file_size_bytes: number
  memory_bytes: number | null
}

/**
 * Returns the lowest memory requirement among a model's files, or null if no requirement is known. A split file counts
 * as one file, and its requirement is the sum over its parts.
 */
export function computeMinimumMemory(files: readonly ReadyFile[]): number | null {
  const own = files.filter(({ role }) => role === 'model' || role === 'shard')
  const known = fileChoices(own, (file) => file.file_size_bytes)
    .filter((choice) => missingParts(choice).length === 0)
    .filter(({ files: [first], parts }) => first.role === 'model' || parts > 1)
    .filter(({ files }) => files.every(({ memory_bytes }) => memory_bytes !== null))
  return known.length > 0 ? Math.min(...known.map(({ memoryBytes }) => memoryBytes)) : null
}
