/** Model files: GGUF headers, chunks, hashes and torrents. */

export { computeMinimumMemory } from './choosing/least-memory.ts'
export {
  computeMemory,
  findFileCacheBytes,
  findFileMemory,
  type MemoryNeed,
  memoryToRun,
} from './choosing/memory.ts'
export {
  type Bencodable,
  type Bencoded,
  decodeBencode,
  encodeBencode,
} from './content/bencode.ts'
export {
  type ChunkHash,
  type ChunkManifest,
  makeManifest,
  manifestProblem,
  packHashes,
  unpackHashes,
} from './content/chunk-manifest.ts'
export { chunkCount, chunkRange, chunkSizeFor, pieceLengthFor } from './content/chunk-sizes.ts'
export {
  type ChunkHashes,
  createChunkHasher,
  createFileHasher,
  createSegmentHasher,
  type FileHashes,
  type StreamHasher,
} from './content/hash-file.ts'
export {
  type HashOptions,
  hashFileInWorker,
  hashFileWithPiecesInWorker,
} from './content/hash-in-worker.ts'
export { infoHash } from './content/info-hash.ts'
export { type Magnet, magnetUri } from './content/magnet-uri.ts'
export { isShoal, newPeerId, usesSeveralPerAddress } from './content/peer-id.ts'
export {
  infoDictionary,
  type TorrentContent,
  type TorrentFile,
  torrentFile,
} from './content/torrent.ts'
export { type GgufHeader, parseGguf } from './gguf/gguf.ts'
export type { GgufDimensions } from './gguf/gguf-dimensions.ts'
export {
  extractFacts,
  type GgufFacts,
  type GgufTensorSummary,
  type MetadataFacts,
  readMetadataFacts,
} from './gguf/gguf-facts.ts'
export { readGgufFile } from './gguf/gguf-file.ts'
export type { ReadBytes } from './gguf/gguf-reader.ts'
export type { GgufTensor } from './gguf/gguf-tensors.ts'
export {
  type GgufArray,
  type GgufLongString,
  type GgufScalar,
  type GgufValue,
  type KeptLimits,
  wholeArrays,
} from './gguf/gguf-values.ts'
export type { JsonValue } from './gguf/json-safe.ts'
export { findQuantizationInFilename } from './gguf/quantization.ts'
export { type GgufRole, isOtherRole, otherRoles } from './gguf/roles.ts'
export { findShardInFilename, getShardSet, type Shard } from './gguf/shards.ts'
