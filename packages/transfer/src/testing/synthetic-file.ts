import { createHash } from 'node:crypto'
import type { ChunkEntry, Download, ModelFile } from '@shoal/protocol/client'

export { mebibyte } from '@shoal/core/units'

/** Smaller than the registry's chunks, which keeps tests fast. A pull accepts any chunk size in the manifest. */
export const smallChunk = 128 * 1024

/** A file of pseudo-random bytes, with its chunks. */
export type SyntheticFile = {
  bytes: Buffer
  chunkSize: number
  sha256: string
  chunks: ChunkEntry[]
}

export function syntheticFile(sizeBytes: number, chunkSize = smallChunk, seed = 1): SyntheticFile {
  const bytes = Buffer.alloc(sizeBytes)
  let state = seed >>> 0 || 1
  for (let at = 0; at + 4 <= sizeBytes; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes.writeUInt32LE(state, at)
  }
  const chunks: ChunkEntry[] = []
  for (let start = 0; start < sizeBytes; start += chunkSize) {
    const chunk = bytes.subarray(start, start + chunkSize)
    chunks.push({ index: chunks.length, hash: computeSha256(chunk), size: chunk.length })
  }
  return { bytes, chunkSize, sha256: computeSha256(bytes), chunks }
}

export function computeSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function toModelFile({ bytes, chunkSize, sha256 }: SyntheticFile): ModelFile {
  return {
    id: '0198c000-0000-7000-8000-000000000001',
    model_id: '0198c000-0000-7000-8000-000000000002',
    filename: 'model.gguf',
    quantization: 'Q8_0',
    file_size_bytes: bytes.length,
    memory_bytes: null,
    sha256_hash: sha256,
    format: 'gguf',
    status: 'ready',
    status_detail: null,
    torrent_info_hash: null,
    chunk_size: chunkSize,
    seeders: 0,
    created_at: '2026-01-31T12:00:00.000Z',
  }
}

export function toDownload(
  { bytes, sha256, chunks }: SyntheticFile,
  baseUrl: string,
  swarm?: { announce: string; infoHash: string },
): Download {
  const webSeed = encodeURIComponent(`${baseUrl}/v1/files/chunks/${sha256}`)
  const torrent_info_hash = swarm?.infoHash ?? '0'.repeat(40)
  const tracker = swarm ? `&tr=${encodeURIComponent(swarm.announce)}` : ''
  return {
    direct_url: `${baseUrl}/blob/direct`,
    torrent_url: `${baseUrl}/torrent`,
    magnet_uri: `magnet:?xt=urn:btih:${torrent_info_hash}&dn=model.gguf&ws=${webSeed}${tracker}`,
    torrent_info_hash,
    chunk_hashes: chunks,
    file_size_bytes: bytes.length,
    sha256_hash: sha256,
  }
}
