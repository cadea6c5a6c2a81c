/**
 * The functions with which a browser reads a file's header and divides the file into chunks, in order to publish it.
 * Loads no Node modules.
 */
export { type ChunkManifest, makeManifest } from './chunk-manifest.ts'
export { chunkCount, chunkRange, chunkSizeFor } from './chunk-sizes.ts'
export { parseGguf } from './gguf.ts'
export { extractFacts } from './gguf-facts.ts'
export { toHex } from './hex.ts'
