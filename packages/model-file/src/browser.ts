/** What a browser needs to publish a file: its header, its chunks and their hashes. Nothing of Node is loaded. */
export { type ChunkManifest, manifestOf } from './chunk-manifest.ts'
export { parseGguf } from './gguf.ts'
export { factsOf } from './gguf-facts.ts'
export { hashBlob, hashChunkOfBlob } from './hash-blob.ts'
