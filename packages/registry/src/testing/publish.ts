import { createHash } from 'node:crypto'
import { createChunkHasher, makeManifest } from '@shoal/model-file'
import { makeGguf } from '@shoal/model-file/testing'
import type { ModelFile, NewFile, StartedUpload } from '@shoal/protocol'
import type { TestRegistry } from './test-registry.ts'

const chunkSize = 16 * 1024 * 1024

/** Makes a small GGUF file. Each `seed` produces different bytes. */
export function smallGguf(seed: number, elements = 64): Buffer<ArrayBuffer> {
  const bytes = makeGguf({
    metadata: {
      'general.architecture': 'llama',
      'general.file_type': 0,
      'llama.context_length': 4096,
    },
    tensors: [{ name: 'token_embd.weight', shape: [elements], type: 'F32' }],
    fill: (data) => data.fill(seed),
  })
  return Buffer.from(bytes)
}

export function manifestFor(filename: string, bytes: Uint8Array): NewFile {
  const hasher = createChunkHasher(bytes.length)
  hasher.update(bytes)
  return { filename, ...makeManifest(hasher.digest()) }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Creates a model if it does not exist, publishes a file in it, and waits until the file has been processed. */
export async function publish(
  registry: TestRegistry,
  token: string,
  model: { name: string; is_public?: boolean; [field: string]: unknown },
  filename: string,
  bytes: Buffer<ArrayBuffer>,
): Promise<ModelFile> {
  await registry.post('/v1/models', { token, body: model })
  const files = `/v1/models/${model.name}/files`
  const started = await registry.post(files, { token, body: manifestFor(filename, bytes) })
  const { id, upload }: StartedUpload = started.body
  for (const { url, headers, index } of upload.missing_chunks) {
    const start = index * chunkSize
    await registry.call('PUT', url, {
      headers,
      bytes: bytes.subarray(start, start + chunkSize),
    })
  }
  await registry.post(`${files}/${id}/complete`, { token })
  return settled(registry, token, model.name, id)
}

/** Waits until a file has been processed, and returns it. */
export async function settled(
  registry: TestRegistry,
  token: string,
  model: string,
  fileId: string,
): Promise<ModelFile> {
  for (;;) {
    const { body }: { body: ModelFile } = await registry.get(
      `/v1/models/${model}/files/${fileId}`,
      { token },
    )
    if (body.status !== 'processing') return body
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Makes the manifest of a file that does not exist, for uploads whose bytes are never sent. */
export function makeFakeManifest(filename: string, sizeBytes: number, seed = 1): NewFile {
  const makeHash = (index: number) => sha256(Buffer.from(`${seed} ${sizeBytes} ${index}`))
  const chunk_hashes = Array.from({ length: Math.ceil(sizeBytes / chunkSize) }, (_, index) => {
    const size = Math.min(chunkSize, sizeBytes - index * chunkSize)
    return { index, hash: makeHash(index), size }
  })
  const sha256_hash = chunk_hashes.length === 1 ? makeHash(0) : makeHash(-1)
  return { filename, file_size_bytes: sizeBytes, sha256_hash, chunk_size: chunkSize, chunk_hashes }
}
