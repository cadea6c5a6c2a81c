/** Model files: GGUF headers, chunks, hashes and torrents. */

export {
  type Bencodable,
  type Bencoded,
  decodeBencode,
  encodeBencode,
} from './bencode.ts'
export {
  type ChunkHash,
  type ChunkManifest,
  makeManifest,
  manifestProblem,
  packHashes,
  unpackHashes,
} from './chunk-manifest.ts'
export { chunkCount, chunkRange, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'
export { type GgufHeader, parseGguf } from './gguf.ts'
export type { GgufDimensions } from './gguf-dimensions.ts'
export {
  extractFacts,
  type GgufFacts,
  type GgufRole,
  type GgufTensorSummary,
  type MetadataFacts,
  readMetadataFacts,
} from './gguf-facts.ts'
export { readGgufFile } from './gguf-file.ts'
export type { ReadBytes } from './gguf-reader.ts'
export type { GgufTensor } from './gguf-tensors.ts'
export {
  type GgufArray,
  type GgufLongString,
  type GgufScalar,
  type GgufValue,
  type KeptLimits,
  wholeArrays,
} from './gguf-values.ts'
export {
  type ChunkHashes,
  createChunkHasher,
  createFileHasher,
  createSegmentHasher,
  type FileHashes,
  type StreamHasher,
} from './hash-file.ts'
export {
  type HashOptions,
  hashFileInWorker,
  hashFileWithPiecesInWorker,
} from './hash-in-worker.ts'
export { infoHash } from './info-hash.ts'
export type { JsonValue } from './json-safe.ts'
export { computeMinimumMemory } from './least-memory.ts'
export { type Magnet, magnetUri } from './magnet-uri.ts'
export {
  computeMemory,
  findFileCacheBytes,
  findFileMemory,
  type MemoryNeed,
  memoryToRun,
} from './memory.ts'
export { isShoal, newPeerId } from './peer-id.ts'
export { findQuantizationInFilename } from './quantization.ts'
export { findShardInFilename, getShardSet, type Shard } from './shards.ts'
export { infoDictionary, type TorrentContent, type TorrentFile, torrentFile } from './torrent.ts'
