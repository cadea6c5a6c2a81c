import { mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MetadataInput, makeGguf } from '@shoal/model-file/testing'
import type {
  CreatedApiKey,
  FileRecord,
  MissingChunk,
  ModelFile,
  ModelRecord,
  StartedUpload,
  Upload,
} from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { manifestFor, publish, settled, sha256, smallGguf } from '../../testing/publish.ts'
import {
  describeApi,
  describeOnEachDatabase,
  everywhere,
  type TestRegistry,
} from '../../testing/test-registry.ts'

const chunkSize = 16 * 1024 * 1024

describeApi('files', { on: everywhere }, (start, oneNodeTest) => {
  let registry: TestRegistry
  let ana: string
  let ben: string

  const startUpload = (token: string, model: string, body: object) =>
    registry.post(`/v1/models/${model}/files`, { token, body })
  const complete = (token: string, model: string, id: string) =>
    registry.post(`/v1/models/${model}/files/${id}/complete`, { token })
  const put = ({ url, headers }: MissingChunk, bytes: Buffer<ArrayBuffer>) =>
    registry.call('PUT', url, { headers, bytes })

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    await registry.post('/v1/models', { token: ben, body: { name: 'drift' } })
    await registry.post('/v1/models', { token: ben, body: { name: 'hidden', is_public: false } })
  })

  test('a published file is ready and has every field that the API specifies', async () => {
    const bytes = smallGguf(1)
    const file = await publish(registry, ana, { name: 'tide' }, 'tide-F32.gguf', bytes)
    expect(file).toMatchObject({
      id: expect.any(String),
      model_id: expect.any(String),
      filename: 'tide-F32.gguf',
      quantization: 'F32',
      file_size_bytes: bytes.length,
      sha256_hash: sha256(bytes),
      format: 'gguf',
      status: 'ready',
      status_detail: null,
      torrent_info_hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      chunk_size: chunkSize,
      seeders: 0,
      created_at: expect.any(String),
    })
    const { body: listed }: { body: ModelFile[] } = await registry.get('/v1/models/tide/files')
    expect(listed.map(({ id }) => id)).toEqual([file.id])
    const { body: record }: { body: FileRecord } = await registry.get(
      `/v1/models/tide/files/${file.id}`,
    )
    expect(record.metadata).toMatchObject({ 'general.architecture': 'llama' })
    expect(record.tensors).toMatchObject({ count: 1, parameters: 64 })
  })

  test('starting an upload again resumes it; a different file with the name of a ready file is a conflict', async () => {
    const manifest = manifestFor('again.gguf', smallGguf(2))
    const first = await startUpload(ana, 'tide', manifest)
    expect(first.status).toBe(201)
    const started: StartedUpload = first.body
    expect(started).toMatchObject({ status: 'uploading', upload: { missing_count: 1 } })
    const second = await startUpload(ana, 'tide', manifest)
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({ id: started.id, upload: { missing_count: 1 } })

    await publish(registry, ana, { name: 'tide' }, 'again.gguf', smallGguf(2))
    const ready = await startUpload(ana, 'tide', manifest)
    expect(ready.status).toBe(200)
    expect(ready.body).toMatchObject({ status: 'ready', upload: { missing_count: 0 } })
    const other = await startUpload(ana, 'tide', manifestFor('again.gguf', smallGguf(3)))
    expect(other.status).toBe(409)
  })

  test('only the owner can see an unfinished upload', async () => {
    const { body }: { body: StartedUpload } = await startUpload(
      ana,
      'tide',
      manifestFor('unfinished.gguf', smallGguf(4)),
    )
    const names = async (query: string, token?: string) => {
      const files: ModelFile[] = (await registry.get(`/v1/models/tide/files${query}`, { token }))
        .body
      return files.map(({ filename }) => filename)
    }
    expect(await names('?status=all', ana)).toContain('unfinished.gguf')
    expect(await names('', ana)).not.toContain('unfinished.gguf')
    expect(await names('?status=all', ben)).not.toContain('unfinished.gguf')
    const path = `/v1/models/tide/files/${body.id}`
    expect((await registry.get(path, { token: ben })).status).toBe(404)
    expect((await registry.get(path, { token: ana })).status).toBe(200)
    const download = `/v1/files/tide/download/${body.id}`
    expect((await registry.get(download, { token: ben })).status).toBe(404)
    expect((await registry.get(download, { token: ana })).status).toBe(409)
    expect((await registry.call('HEAD', download, { token: ana })).status).toBe(409)
    expect((await registry.call('HEAD', download, { token: ben })).status).toBe(404)
    expect((await registry.call('DELETE', path, { token: ben })).status).toBe(403)
    expect((await registry.call('DELETE', path, { token: ana })).status).toBe(204)
  })

  test('a filename that Windows reserves, or that differs from another only in case, is refused', async () => {
    const named = (filename: string) =>
      startUpload(ana, 'tide', manifestFor(filename, smallGguf(7)))
    expect((await named('Case.gguf')).status).toBe(201)
    const similar = await named('case.gguf')
    expect(similar.status).toBe(409)
    expect(similar.text).toContain('a file named Case.gguf')
    const reserved = await named('nul.q8.gguf')
    expect(reserved).toMatchObject({ status: 422, body: { errors: [{ path: '/filename' }] } })
  })

  test('completing an upload too early returns 409 with the number of missing chunks', async () => {
    const { body }: { body: StartedUpload } = await startUpload(
      ana,
      'tide',
      manifestFor('early.gguf', smallGguf(5)),
    )
    const early = await complete(ana, 'tide', body.id)
    expect(early.status).toBe(409)
    expect(early.body).toMatchObject({ missing_count: 1, code: 'chunks_missing' })
  })

  oneNodeTest('a chunk with a wrong length or wrong bytes is refused and discarded', async () => {
    const bytes = smallGguf(6)
    const { body }: { body: StartedUpload } = await startUpload(
      ana,
      'tide',
      manifestFor('refused.gguf', bytes),
    )
    const [chunk] = body.upload.missing_chunks
    if (!chunk) throw new Error('no chunk is missing')
    const flipped = Buffer.from(bytes)
    flipped[100] = (flipped[100] ?? 0) ^ 1
    for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, bytes]), flipped]) {
      const refused = await put(chunk, wrong)
      expect(refused.status).toBe(400)
      expect(refused.body).toMatchObject({ code: 'chunk_mismatch' })
    }
    const upload: Upload = (
      await registry.get(`/v1/models/tide/files/${body.id}/upload`, { token: ana })
    ).body
    expect(upload.missing_count).toBe(1)

    expect((await put(chunk, bytes)).status).toBe(200)
    expect((await put(chunk, bytes)).status).toBe(200) // sending a stored chunk again is harmless
    expect((await put(chunk, flipped)).status).toBe(400) // sending wrong bytes later cannot damage the stored chunk
    await complete(ana, 'tide', body.id)
    expect(await settled(registry, ana, 'tide', body.id)).toMatchObject({ status: 'ready' })
  })

  test('chunks can be sent in any order and in parallel, and the last one may be shorter', async () => {
    const bytes = smallGguf(7, 5_000_000) // 20 MB: two chunks
    const { body }: { body: StartedUpload } = await startUpload(
      ana,
      'tide',
      manifestFor('two-chunks.gguf', bytes),
    )
    expect(body.upload.missing_chunks.map(({ size }) => size)).toEqual([
      chunkSize,
      bytes.length - chunkSize,
    ])
    const answers = await Promise.all(
      body.upload.missing_chunks
        .toReversed()
        .flatMap((chunk) => [chunk, chunk])
        .map((chunk) => put(chunk, getBytes(bytes, chunk))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await complete(ana, 'tide', body.id)
    expect(await settled(registry, ana, 'tide', body.id)).toMatchObject({ status: 'ready' })
  })

  test.each([
    ['../x.gguf'],
    ['x/y.gguf'],
    ['.x.gguf'],
    ['x.bin'],
    ['x.gguf\n'],
    ['x\u0000.gguf'],
    [`${'x'.repeat(260)}.gguf`],
    ['-x.gguf'],
  ])('the filename %j is refused with 422', async (filename) => {
    const refused = await startUpload(ana, 'tide', {
      ...manifestFor('x.gguf', smallGguf(1)),
      filename,
    })
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ detail: expect.any(String) })
  })

  test.each([
    ['a size that is not the sum of its chunks', { file_size_bytes: 5 }],
    ['a wrong chunk size', { chunk_size: 1024 * 1024 }],
    ['no chunks', { chunk_hashes: [] }],
    ['a chunk hash in uppercase', { chunk_hashes: [{ index: 0, hash: 'A'.repeat(64), size: 5 }] }],
    ['a malformed SHA-256', { sha256_hash: 'x' }],
    ['size 0', { file_size_bytes: 0 }],
  ])('a manifest with %s is refused with 422', async (_what, wrong) => {
    const manifest = { ...manifestFor('x.gguf', smallGguf(1)), ...wrong }
    expect((await startUpload(ana, 'tide', manifest)).status).toBe(422)
  })

  test('an upload with a wrong SHA-256 fails, and its status detail contains the reason', async () => {
    const bytes = smallGguf(8)
    const manifest = { ...manifestFor('liar.gguf', bytes), sha256_hash: 'f'.repeat(64) }
    // If a file has only one chunk, the chunk's hash must equal the file's SHA-256, so this manifest is refused.
    expect((await startUpload(ana, 'tide', manifest)).status).toBe(422)
    const large = smallGguf(8, 5_000_000)
    const lie = { ...manifestFor('liar.gguf', large), sha256_hash: 'f'.repeat(64) }
    const { body }: { body: StartedUpload } = await startUpload(ana, 'tide', lie)
    for (const chunk of body.upload.missing_chunks) await put(chunk, getBytes(large, chunk))
    await complete(ana, 'tide', body.id)
    const failed = await settled(registry, ana, 'tide', body.id)
    expect(failed.status).toBe('failed')
    expect(failed.status_detail).toContain(sha256(large))
    const again = await startUpload(ana, 'tide', lie)
    expect(again.body).toMatchObject({ status: 'uploading', upload: { missing_count: 2 } })
  })

  test('a file that is not in GGUF format fails, and its status detail contains the reason', async () => {
    const file = await publish(
      registry,
      ana,
      { name: 'tide' },
      'prose.gguf',
      Buffer.from('call me a fish '.repeat(20)),
    )
    expect(file.status).toBe('failed')
    expect(file.status_detail).toContain('GGUF')
  })

  test('knowing a hash is not enough: bytes that the caller may not read must be sent', async () => {
    const secret = smallGguf(66)
    await publish(registry, ben, { name: 'hidden' }, 'secret.gguf', secret)
    const manifest = manifestFor('stolen.gguf', secret)
    const { body: stolen }: { body: StartedUpload } = await startUpload(ana, 'tide', manifest)
    // ana is an administrator and can read all files, so a third account is needed
    const cleo = await registry.register('cleo')
    await registry.post('/v1/models', { token: cleo, body: { name: 'cleos' } })
    const { body }: { body: StartedUpload } = await startUpload(cleo, 'cleos', manifest)
    expect(body.upload.missing_count).toBe(1)
    expect((await complete(cleo, 'cleos', body.id)).status).toBe(409)
    expect(stolen.filename).toBe('stolen.gguf')

    const newKey = { token: ben, body: { name: 'key', scopes: ['write'] } }
    const { key } = (await registry.post('/v1/api-keys', newKey)).body as CreatedApiKey
    const byKey = await startUpload(key, 'drift', manifestFor('by-key.gguf', secret))
    expect(byKey.body).toMatchObject({ upload: { missing_count: 1 } })
    const own: StartedUpload = (await startUpload(ben, 'drift', manifest)).body
    expect(own.upload.missing_count).toBe(0) // ben may already read these bytes
    await complete(ben, 'drift', own.id)
    expect(await settled(registry, ben, 'drift', own.id)).toMatchObject({ status: 'ready' })
  })

  oneNodeTest('identical bytes are stored once, and kept while any file has them', async () => {
    const bytes = smallGguf(77)
    const first = await publish(registry, ana, { name: 'tide' }, 'shared.gguf', bytes)
    const second = await publish(registry, ben, { name: 'drift' }, 'shared-too.gguf', bytes)
    expect(
      (await registry.call('DELETE', `/v1/models/tide/files/${first.id}`, { token: ana })).status,
    ).toBe(204)
    const { body } = await registry.get(`/v1/files/drift/download/${second.id}`)
    const url = (body as { direct_url: string }).direct_url
    expect((await registry.bytes(url)).bytes.equals(bytes)).toBe(true)
    await registry.call('DELETE', `/v1/models/drift/files/${second.id}`, { token: ben })
    expect((await registry.bytes(url)).status).toBe(404)
    expect((await registry.get(`/v1/files/chunks/${sha256(bytes)}`)).status).toBe(404)
  })

  test('a manifest that contradicts stored bytes that the caller can read is refused', async () => {
    const bytes = smallGguf(79)
    await publish(registry, ben, { name: 'drift' }, 'honest.gguf', bytes)
    const manifest = manifestFor('lie.gguf', bytes)
    for (const size of [bytes.length - 100, bytes.length + 1000]) {
      const chunk_hashes = [{ index: 0, hash: manifest.sha256_hash, size }]
      const lie = { ...manifest, file_size_bytes: size, chunk_hashes }
      expect((await startUpload(ana, 'tide', lie)).status).toBe(422)
    }
    const large = smallGguf(79, 5_000_000)
    await publish(registry, ben, { name: 'drift' }, 'honest-too.gguf', large)
    const { chunk_hashes, ...rest } = manifestFor('lie.gguf', large)
    const [first, second] = chunk_hashes.map((chunk) => ({ ...chunk, hash: 'e'.repeat(64) }))
    const lie = { ...rest, chunk_hashes: [first, second] }
    expect((await startUpload(ana, 'tide', lie)).status).toBe(422)
  })

  test('an architecture that a user could not enter is ignored', async () => {
    const odd = ['x'.repeat(3_000), '\0', '', 'a\u0001b', 'a\nb', ' ', '\u200b', 'a\u202eb']
    for (const [at, architecture] of odd.entries()) {
      const bytes = createGguf({ 'general.architecture': architecture, [`${architecture}.a`]: at })
      const file = await publish(registry, ana, { name: 'odd' }, `${at}.gguf`, bytes)
      expect(file).toMatchObject({ status: 'ready' })
      expect((await registry.get('/v1/models/odd')).body).toMatchObject({ architecture: null })
    }
    const longest = '\u{1F41F}'.repeat(100)
    const bytes = createGguf({ 'general.architecture': longest })
    await publish(registry, ana, { name: 'odd-too' }, 'x.gguf', bytes)
    expect((await registry.get('/v1/models/odd-too')).body).toMatchObject({ architecture: longest })
  })

  test('an invalid header is quoted without control characters and truncated', async () => {
    const key = `a\0${'b'.repeat(2_000)}`
    const bytes = Buffer.from(createGguf({ [key]: 1, [key.replace('b', 'c')]: 2 }))
    bytes.write('b', bytes.indexOf('\0cb') + 1) // now the key occurs twice
    const file = await publish(registry, ana, { name: 'odd' }, 'twice.gguf', bytes)
    expect(file).toMatchObject({
      status: 'failed',
      status_detail: expect.stringMatching(/^not a usable GGUF file: the metadata contains "ab+$/),
    })
  })

  test('deleting a model deletes its files', async () => {
    const bytes = smallGguf(78)
    await publish(registry, ana, { name: 'short-lived' }, 'x.gguf', bytes)
    expect((await registry.get(`/v1/files/chunks/${sha256(bytes)}`)).status).toBe(302)
    await registry.call('DELETE', '/v1/models/short-lived', { token: ana })
    expect((await registry.get(`/v1/files/chunks/${sha256(bytes)}`)).status).toBe(404)
  })

  test('the parameter count of a sharded model is the sum of its shards', async () => {
    for (const index of [1, 2]) {
      const name = `sharded-F32-0000${index}-of-00002.gguf`
      await publish(registry, ana, { name: 'sharded' }, name, smallGguf(80 + index, 64 * index))
    }
    const { body }: { body: ModelRecord } = await registry.get('/v1/models/sharded')
    expect(body).toMatchObject({ parameter_count: 64 + 128, architecture: 'llama', files_count: 2 })
  })
})

describeApi('a registry with a quota', { on: everywhere }, (start) => {
  test('returns 413 for a file that would exceed the quota, including the declared sizes of unfinished uploads', async () => {
    const bytes = smallGguf(1)
    const registry = await start({ quotaBytes: bytes.length * 2 })
    const ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    const racing = await Promise.all(
      ['a', 'b', 'c'].map((name, seed) =>
        registry.post('/v1/models/tide/files', {
          token: ana,
          body: manifestFor(`${name}.gguf`, smallGguf(seed)),
        }),
      ),
    )
    const statuses = racing.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 201, 413])
    const refused = racing.find(({ status }) => status === 413)
    expect(refused?.body).toMatchObject({ code: 'quota_exceeded' })
  })
})

describeApi('a registry that is restarted', { on: everywhere }, (start) => {
  test('continues uploads and processing, and accepts URLs that it signed before the restart', async () => {
    const registry = await start()
    const ana = await registry.register('ana')
    const bytes = smallGguf(3, 5_000_000)
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    const manifest = manifestFor('x.gguf', bytes)
    const { body }: { body: StartedUpload } = await registry.post('/v1/models/tide/files', {
      token: ana,
      body: manifest,
    })
    const [first, second] = body.upload.missing_chunks
    const { headers } = first ?? {}
    await registry.call('PUT', first?.url ?? '', { headers, bytes: bytes.subarray(0, chunkSize) })
    const earlierUrl = registry.url
    await registry.restart()

    const resumed: StartedUpload = (
      await registry.post('/v1/models/tide/files', { token: ana, body: manifest })
    ).body
    expect(resumed.upload.missing_chunks.map(({ index }) => index)).toEqual([1])
    const url = (second?.url ?? '').replace(earlierUrl, registry.url)
    await registry.call('PUT', url, {
      headers: second?.headers,
      bytes: bytes.subarray(chunkSize),
    })
    await registry.post(`/v1/models/tide/files/${body.id}/complete`, { token: ana })
    await registry.restart()
    expect(await settled(registry, ana, 'tide', body.id)).toMatchObject({ status: 'ready' })
  })
})

describeOnEachDatabase('a registry whose store cannot reserve space', (start) => {
  test('leaves nothing behind from an upload that it could not start', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    const registry = await start({ dataDirectory })
    const ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    const files = '/v1/models/tide/files'
    const uploads = join(dataDirectory, 'store', 'uploads')
    await rename(uploads, `${uploads}-away`)
    const manifest = manifestFor('x.gguf', smallGguf(1))
    expect((await registry.post(files, { token: ana, body: manifest })).status).toBe(500)
    expect((await registry.get(`${files}?status=all`, { token: ana })).body).toEqual([])
    await rename(`${uploads}-away`, uploads)
    expect((await registry.post(files, { token: ana, body: manifest })).status).toBe(201)
  })
})

function getBytes(file: Buffer<ArrayBuffer>, { index, size }: MissingChunk) {
  return file.subarray(index * chunkSize, index * chunkSize + size)
}

function createGguf(metadata: Record<string, MetadataInput>): Buffer<ArrayBuffer> {
  return Buffer.from(makeGguf({ metadata }))
}
