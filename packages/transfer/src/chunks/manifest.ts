import { plural } from '@shoal/core/units'
import type { Download, ModelFile } from '@shoal/protocol/client'
import { verificationFailed } from '../errors.ts'

export type Chunk = { index: number; start: number; size: number; sha256: string }

/** The sizes and hashes of a file and its chunks. */
export type Manifest = {
  sha256: string
  fileSizeBytes: number
  /** Size of every chunk except the last, in bytes. */
  chunkSize: number
  chunks: Chunk[]
}

/**
 * Returns the manifest of a download. Throws `verification_failed` if the manifest is inconsistent or is not that of
 * `file`.
 */
export function parseManifest(download: Download, file: ModelFile): Manifest {
  const { sha256_hash: sha256, file_size_bytes: fileSizeBytes } = download
  if (sha256 !== file.sha256_hash || fileSizeBytes !== file.file_size_bytes) {
    throw verificationFailed(`${file.filename} has changed on the registry; try again`, {
      expected: file.sha256_hash,
      actual: sha256,
    })
  }
  const chunkSize = download.chunk_hashes[0]?.size ?? 0
  const chunks = download.chunk_hashes.map(({ index, size, hash }) => {
    return { index, size, sha256: hash, start: index * chunkSize }
  })
  const problem = findProblem({ sha256, fileSizeBytes, chunkSize, chunks })
  if (problem !== undefined) {
    const message = `the registry's manifest for ${file.filename} is inconsistent: ${problem}`
    throw verificationFailed(message, { expected: sha256 })
  }
  return { sha256, fileSizeBytes, chunkSize, chunks }
}

function findProblem({ sha256, fileSizeBytes, chunkSize, chunks }: Manifest): string | undefined {
  const last = chunks.length - 1
  for (const [place, chunk] of chunks.entries()) {
    if (chunk.index !== place) return `chunk ${chunk.index} is at position ${place}`
    const size = place === last ? fileSizeBytes - chunk.start : chunkSize
    if (chunk.size !== size) return `chunk ${place} has ${plural(chunk.size, 'byte')}, not ${size}`
    if (size < 1 || size > chunkSize) return `its chunks do not add up to ${fileSizeBytes} bytes`
  }
  if (last < 0) return 'it has no chunks'
  if (last === 0 && chunks[0]?.sha256 !== sha256)
    return 'the hash of its only chunk is not the hash of the file'
  return undefined
}
