/**
 * The functions that a browser needs to publish a file: they read its header and divide it into chunks. This entry
 * point loads no Node modules.
 */
export { type ChunkHash, type ChunkManifest, makeManifest } from './content/chunk-manifest.ts'
export { chunkCount, chunkRange, chunkSizeFor } from './content/chunk-sizes.ts'
export { toHex } from './content/hex.ts'
export { parseGguf } from './gguf/gguf.ts'
export { extractFacts } from './gguf/gguf-facts.ts'
