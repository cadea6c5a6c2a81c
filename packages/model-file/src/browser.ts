/**
 * The functions that a browser needs to publish a file: they read its header and divide it into chunks. This entry
 * point loads no Node modules.
 */
export { type ChunkHash, type ChunkManifest, makeManifest } from './chunk-manifest.ts'
export { chunkCount, chunkRange, chunkSizeFor } from './chunk-sizes.ts'
export { parseGguf } from './gguf.ts'
export { extractFacts } from './gguf-facts.ts'
export { toHex } from './hex.ts'
