/** Tests uploads that begin before the hashes of the file are known. */
import type {
  ChunkEntry,
  MissingChunk,
  ModelFile,
  NewFile,
  StartedUpload,
  Upload,
} from '@shoal/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { hasS3 } from '../../../../../testing/servers.ts'
import { manifestFor, publish, settled, sha256, smallGguf } from '../../testing/publish.ts'
import { makeBucket } from '../../testing/s3-bucket.ts'
import {
  describeApi,
  everywhere,
  startTestRegistry,
  type TestRegistry,
} from '../../testing/test-registry.ts'

const chunkSize = 16 * 1024 * 1024
/** A file of two chunks. */
const twoChunks = (seed: number) => smallGguf(seed, 5 * 1024 * 1024)

type Reply<T> = { status: number; headers: Headers; body: T & { detail: string; code?: string } }

/** Returns functions that upload to one model with the token of one account. */
function caller(registry: TestRegistry, token: string, model: string) {
  const files = `/v1/models/${model}/files`
  /** An error response has `detail` and `code`. Any other response has the members of `T`. */
  const post = async <T>(path: string, body?: object): Promise<Reply<T>> =>
    registry.post(path, { token, body })
  const reserve = (filename: string, file_size_bytes: number) =>
    post<StartedUpload>(`/v1/models/${model}/uploads`, { filename, file_size_bytes })
  const declare = (id: string, chunk_hashes: ChunkEntry[]) =>
    post<Upload>(`${files}/${id}/chunks`, { chunk_hashes })
  const startUpload = (manifest: NewFile) => post<StartedUpload>(files, manifest)
  const complete = (id: string) => post<ModelFile>(`${files}/${id}/complete`)
  const put = (chunk: MissingChunk | undefined, bytes: Buffer) => {
    if (!chunk) throw new Error('no chunk is missing')
    const start = chunk.index * chunkSize
    const body = new Uint8Array(bytes.subarray(start, start + chunk.size))
    return fetch(chunk.url, { method: 'PUT', headers: chunk.headers, body })
  }
  const list = async (): Promise<ModelFile[]> =>
    (await registry.get(`${files}?status=all`, { token })).body

  /** Reserves an upload, and sends its first chunk before the other hashes are known. */
  async function sendFirst(filename: string, bytes: Buffer) {
    const manifest = manifestFor(filename, bytes)
    const { id }: StartedUpload = (await reserve(filename, bytes.length)).body
    const declared = await declare(id, manifest.chunk_hashes.slice(0, 1))
    expect(declared.status).toBe(200)
    for (const chunk of declared.body.missing_chunks) {
      expect((await put(chunk, bytes)).status).toBe(200)
    }
    return { id, manifest }
  }
  return { reserve, declare, startUpload, complete, put, list, sendFirst }
}

/**
 * Defines the tests that must pass on every store. `open` returns a registry with the accounts and models that the
 * tests use.
 */
function testEveryStore(open: () => { registry: TestRegistry; ana: string }) {
  test('chunks are sent before the file has been hashed, and none of them twice', async () => {
    const { registry, ana } = open()
    const { reserve, declare, startUpload, complete, put } = caller(registry, ana, 'tide')
    const bytes = twoChunks(11)
    const manifest = manifestFor('early.gguf', bytes)
    const [first, second] = manifest.chunk_hashes as [ChunkEntry, ChunkEntry]
    const reserved = await reserve('early.gguf', bytes.length)
    expect(reserved.status).toBe(201)
    const { id }: StartedUpload = reserved.body
    expect(reserved.headers.get('location')).toBe(`/v1/models/tide/files/${id}`)
    expect(reserved.body).toMatchObject({
      status: 'uploading',
      sha256_hash: '',
      chunk_size: chunkSize,
      upload: { missing_chunks: [], missing_count: 2 },
    })

    const declared = await declare(id, [second])
    expect(declared).toMatchObject({ status: 200, body: { missing_count: 2 } })
    expect(declared.body.missing_chunks).toMatchObject([second])
    expect((await put(declared.body.missing_chunks[0], bytes)).status).toBe(200)
    expect((await declare(id, [second])).body).toMatchObject({
      missing_chunks: [],
      missing_count: 1,
    })
    expect((await complete(id)).body.code).toBe('hashes_missing')
    expect((await reserve('early.gguf', bytes.length)).body.id).toBe(id)

    const started = await startUpload(manifest)
    expect(started).toMatchObject({
      status: 200,
      body: { id, sha256_hash: manifest.sha256_hash, upload: { missing_count: 1 } },
    })
    expect(started.body.upload.missing_chunks).toMatchObject([first])
    expect((await complete(id)).body.code).toBe('chunks_missing')
    expect((await put(started.body.upload.missing_chunks[0], bytes)).status).toBe(200)
    expect((await complete(id)).status).toBe(202)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({
      status: 'ready',
      sha256_hash: sha256(bytes),
    })
    expect((await reserve('early.gguf', bytes.length)).status).toBe(409)
  })

  test('wrong hashes of chunks and of the file are detected', async () => {
    const { registry, ana } = open()
    const { sendFirst, declare, put, startUpload, complete } = caller(registry, ana, 'tide')
    const bytes = twoChunks(12)
    const { id, manifest } = await sendFirst('lies.gguf', bytes)
    const second = manifest.chunk_hashes[1] as ChunkEntry
    const { body } = await declare(id, [second])
    const other = Buffer.from(bytes).fill(1, chunkSize)
    await put(body.missing_chunks[0], other) // a store may keep the wrong bytes until the upload is complete
    const lie = { ...manifest, sha256_hash: sha256(Buffer.from('a lie')) }
    const { upload }: StartedUpload = (await startUpload(lie)).body
    for (const chunk of upload.missing_chunks) {
      expect((await put(chunk, bytes)).status).toBe(200)
    }
    await complete(id)
    const checked = await settled(registry, ana, 'tide', id)
    if (checked.status === 'uploading') {
      await put((await declare(id, [second])).body.missing_chunks[0], bytes)
      await complete(id)
    }
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({
      status: 'failed',
      status_detail: expect.stringContaining("the file's SHA-256 is"),
    })
  })

  test('bytes that the account can already read are not needed, and those that were sent are removed', async () => {
    const { registry, ana } = open()
    const { sendFirst, startUpload, complete, list } = caller(registry, ana, 'tide')
    const bytes = twoChunks(13)
    await publish(registry, ana, { name: 'origin' }, 'origin.gguf', bytes)
    const { id, manifest } = await sendFirst('copy.gguf', bytes)
    expect((await startUpload(manifest)).body).toMatchObject({ id, upload: { missing_count: 0 } })
    await complete(id)
    await settled(registry, ana, 'tide', id)
    expect((await list()).find((file) => file.id === id)).toMatchObject({ status: 'ready' })
  })
}

describeApi('uploads before hashing', { on: everywhere }, (start) => {
  let registry: TestRegistry
  let ana: string
  let ben: string

  beforeAll(async () => {
    registry = await start({ quotaBytes: 1e9 })
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
  })

  testEveryStore(() => ({ registry, ana }))

  test('a declared hash does not change; a complete manifest with another hash starts a new upload', async () => {
    const { sendFirst, declare, startUpload } = caller(registry, ana, 'tide')
    const { id, manifest } = await sendFirst('changed.gguf', twoChunks(21))
    const other = manifestFor('changed.gguf', twoChunks(22))
    const [first, second] = other.chunk_hashes as [ChunkEntry, ChunkEntry]
    const refused = await declare(id, [second, first])
    expect(refused).toMatchObject({ status: 409, body: { code: 'hash_conflict' } })
    // The refused call declared no hashes.
    expect((await declare(id, [manifest.chunk_hashes[1] as ChunkEntry])).status).toBe(200)
    const started = await startUpload(other)
    expect(started).toMatchObject({ status: 201, body: { upload: { missing_count: 2 } } })
    expect((await declare(id, [first])).status).toBe(404)
  })

  test('two clients that upload the same file at the same time share one upload', async () => {
    const { reserve, declare, startUpload, complete, put } = caller(registry, ana, 'tide')
    const bytes = twoChunks(23)
    const manifest = manifestFor('together.gguf', bytes)
    async function send() {
      const { id }: StartedUpload = (await reserve('together.gguf', bytes.length)).body
      for (const chunk of manifest.chunk_hashes) {
        for (const missing of (await declare(id, [chunk])).body.missing_chunks) {
          expect((await put(missing, bytes)).status).toBe(200)
        }
      }
      return id
    }
    const [one, two] = await Promise.all([send(), send()])
    expect(one).toBe(two)
    const started = await Promise.all([startUpload(manifest), startUpload(manifest)])
    expect(started.map(({ body }) => body.id)).toEqual([one, one])
    const completed = await Promise.all([complete(one), complete(one)])
    expect(completed.map(({ status }) => status)).toEqual([202, 202])
    expect(await settled(registry, ana, 'tide', one)).toMatchObject({ status: 'ready' })
  })

  test('a reserved upload counts against the quota, and an upload of another size replaces it', async () => {
    const { reserve, list } = caller(registry, ana, 'tide')
    expect(await reserve('huge.gguf', 2e9)).toMatchObject({
      status: 413,
      body: { code: 'quota_exceeded' },
    })
    const { id }: StartedUpload = (await reserve('large.gguf', 6e8)).body
    expect((await reserve('second.gguf', 6e8)).status).toBe(413)
    const smaller: StartedUpload = (await reserve('large.gguf', 5e8)).body
    expect(smaller.id).not.toBe(id)
    expect((await list()).map((file) => file.id)).not.toContain(id)
  })

  test('only users who may publish can reserve and declare, and invalid values are refused', async () => {
    const { id, manifest } = await caller(registry, ana, 'tide').sendFirst(
      'own.gguf',
      twoChunks(24),
    )
    const mine = caller(registry, ana, 'tide')
    const others = caller(registry, ben, 'tide')
    expect((await others.reserve('x.gguf', 100)).status).toBe(403)
    expect((await others.declare(id, manifest.chunk_hashes)).status).toBe(403)
    expect((await mine.reserve('x.txt', 100)).status).toBe(422)
    expect((await mine.reserve('x.gguf', 0)).status).toBe(422)
    const [first] = manifest.chunk_hashes as [ChunkEntry]
    expect((await mine.declare(id, [{ ...first, size: 5 }])).body.detail).toContain('has 5 bytes')
    expect((await mine.declare(id, [{ ...first, index: 2 }])).body.detail).toContain('no chunk 2')
    expect((await mine.declare(id, [])).status).toBe(422)
    expect((await others.list()).map((file) => file.id)).not.toContain(id)
  })
})

describe.skipIf(!hasS3)('uploads before hashing, with an S3 store', () => {
  let registry: TestRegistry
  let ana: string

  beforeAll(async () => {
    registry = await startTestRegistry({ s3: await makeBucket() })
    ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    return () => registry.close()
  })

  testEveryStore(() => ({ registry, ana }))
})
