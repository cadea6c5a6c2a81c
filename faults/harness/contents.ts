import { createHash } from 'node:crypto'
import { createChunkHasher, makeManifest } from '@shoal/model-file'
import { makeGguf } from '@shoal/model-file/testing'
import type { Random } from '../../bench/harness/random.ts'

/** A GGUF file to publish. */
export type Content = { bytes: Uint8Array; manifest: ReturnType<typeof makeManifest> }

/**
 * The number of elements in a file. A small file is smaller than a chunk (16 MiB). A large file consists of two chunks
 * and has 18 MB. A larger file also consists of two chunks, but the second chunk has 12 MB.
 */
const elements = { small: 4_000, large: 4_500_000, larger: 7_200_000 }
const chunkBytes = 16 * 1024 * 1024

/** Makes a file with different bytes on each call: each chunk begins with random bytes. */
export function makeContent(random: Random, size: keyof typeof elements): Content {
  const bytes = makeGguf({
    metadata: {
      'general.architecture': 'llama',
      'general.file_type': 0,
      'llama.context_length': 4096,
    },
    tensors: [{ name: 'token_embd.weight', shape: [elements[size]], type: 'F32' }],
    fill(data) {
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
      data.fill(0x5a) // not zeros, so that a hole in the file is detected
      for (let at = 0; at + 4 <= data.length; at += 4096) view.setUint32(at, at)
      for (let at = 0; at < data.length; at += chunkBytes) {
        data.set(Buffer.from(random.hex(64), 'hex'), at)
      }
    },
  })
  const hasher = createChunkHasher(bytes.length)
  hasher.update(bytes)
  return { bytes, manifest: makeManifest(hasher.digest()) }
}

export function sliceChunk({ bytes }: Content, index: number): Uint8Array {
  return bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes)
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
