/** Tests a complete registry with an S3 store: how it publishes, serves, refuses and garbage-collects files. */
import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Download, MissingChunk, StartedUpload } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startProxyWithoutHeaders } from '../../../../testing/s3/s3-proxy.ts'
import { type S3Server, startS3 } from '../../../../testing/s3/start-s3.ts'
import { hasS3, s3Address } from '../../../../testing/servers.ts'
import { openAdmin } from '../main.ts'
import { openS3, type S3Config } from '../store/s3/open-s3.ts'
import { defaultTimeouts } from '../store/s3/s3-client.ts'
import { manifestFor, publish, settled, sha256, smallGguf } from '../testing/publish.ts'
import { makeBucket, withS3Client } from '../testing/s3-bucket.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'
import { garbageCollection } from './garbage/garbage-collection.ts'
import { openTrash } from './rows/trash.ts'

/** A file of two chunks. */
const twoChunks = (seed: number) => smallGguf(seed, 5 * 1024 * 1024)
const chunkSize = 16 * 1024 * 1024

describe.skipIf(!hasS3)('a registry with an S3 store', () => {
  let config: S3Config
  let registry: TestRegistry
  let ana: string

  beforeAll(async () => {
    config = await makeBucket()
    registry = await startTestRegistry({ s3: config })
    ana = await registry.register('ana')
  })
  afterAll(() => registry?.close())

  async function start(model: string, filename: string, bytes: Uint8Array): Promise<StartedUpload> {
    await registry.post('/v1/models', { token: ana, body: { name: model } })
    const body = manifestFor(filename, bytes)
    const started = await registry.post(`/v1/models/${model}/files`, { token: ana, body })
    expect(started.status).toBeLessThan(300)
    return started.body
  }
  const send = (chunk: MissingChunk | undefined, bytes: Buffer, headers = chunk?.headers) =>
    fetch(chunk?.url ?? '', { method: 'PUT', body: new Uint8Array(bytes), headers: headers ?? {} })
  const listMissing = async (model: string, { id }: { id: string }) =>
    (await registry.get(`/v1/models/${model}/files/${id}/upload`, { token: ana }))
      .body as StartedUpload['upload']
  const getDownload = async (model: string, id: string, token?: string): Promise<Download> =>
    (await registry.get(`/v1/files/${model}/download/${id}`, { token })).body
  const withClient = <T>(use: (client: S3Client) => Promise<T>) => withS3Client(config, use)
  const Bucket = () => config.bucket.bucket
  /** Returns the object key in a presigned URL. */
  const toName = (url: string) => new URL(url).pathname.slice(`/${Bucket()}/`.length)
  /** Returns the number of multipart uploads that the store has for this file. */
  const countUploads = ({ upload }: StartedUpload) =>
    withClient(async (client) => {
      const Prefix = toName(upload.missing_chunks[0]?.url ?? '')
      const { Uploads = [] } = await client.send(
        new ListMultipartUploadsCommand({ Bucket: Bucket(), Prefix }),
      )
      return Uploads.length
    })
  /**
   * Replaces the upload to which a chunk's URL belongs with a complete object of other bytes, as a faulty store might.
   */
  const finishWith = (url: string, bytes: Buffer) =>
    withClient(async (client) => {
      const [Key, UploadId] = [toName(url), new URL(url).searchParams.get('uploadId') ?? '']
      const upload = { Bucket: Bucket(), Key, UploadId }
      await client.send(new AbortMultipartUploadCommand(upload))
      await client.send(new PutObjectCommand({ Bucket: Bucket(), Key, Body: bytes }))
    })
  const listNames = async () => (await listBucket(config)).objects

  test('publishes a file whose chunks are sent to the store, and serves the file from there', async () => {
    const large = twoChunks(101)
    const file = await publish(registry, ana, { name: 'tide' }, 'tide.gguf', large)
    expect(file).toMatchObject({ status: 'ready', sha256_hash: sha256(large) })
    const { direct_url, chunk_hashes } = await getDownload('tide', file.id)
    expect(new URL(direct_url).origin).toBe(config.bucket.endpoint)
    const whole = await fetch(direct_url)
    expect(whole.headers.get('content-disposition')).toContain('tide.gguf')
    expect(sha256(Buffer.from(await whole.arrayBuffer()))).toBe(file.sha256_hash)
    for (const { hash } of chunk_hashes) {
      const chunk = await fetch(`${registry.url}/v1/files/chunks/${hash}`)
      expect(sha256(Buffer.from(await chunk.arrayBuffer()))).toBe(hash)
    }
  })

  test('redirects the web seed of a public file to the store, and serves a private file’s web seed itself', async () => {
    const open = await publish(registry, ana, { name: 'open' }, 'open.gguf', smallGguf(1))
    const closed = await publish(
      registry,
      ana,
      { name: 'closed', is_public: false },
      'closed.gguf',
      smallGguf(2),
    )
    for (const [model, { id, sha256_hash }, origin] of [
      ['open', open, config.bucket.endpoint],
      ['closed', closed, registry.url],
    ] as const) {
      const { magnet_uri } = await getDownload(model, id, ana)
      const seed = new URL(magnet_uri).searchParams.get('ws') ?? ''
      const response = await fetch(seed)
      const target = new URL(response.url)
      expect(target.origin).toBe(origin)
      if (model === 'open') expect(target.searchParams.get('X-Amz-Expires')).toBe('604800')
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256_hash)
    }
  })

  test('stores only chunks whose bytes match the hashes that the publisher declared', async () => {
    const large = twoChunks(102)
    const started = await start('lies', 'lies.gguf', large)
    const [first, second] = started.upload.missing_chunks
    const [firstPart, secondPart] = [
      cut(large, { index: 0, size: chunkSize }),
      cut(large, { index: 1, size: large.length - chunkSize }),
    ]
    const other = await start('lies', 'other.gguf', smallGguf(3))
    const [others] = other.upload.missing_chunks

    const wrong = flipped(secondPart)
    const attempts = [
      send(second, wrong), // wrong bytes
      send(second, firstPart), // the bytes of another chunk
      send(second, Buffer.concat([secondPart, wrong])), // too long
      send(others, secondPart), // the URL of another upload
      send(first, wrong, {}), // without the signed headers
      send(second, wrong, { ...second?.headers, 'x-amz-content-sha256': sha256(wrong) }),
      send(
        second && { ...second, url: second.url.replace('partNumber=2', 'partNumber=1') },
        secondPart,
      ),
    ]
    for (const response of await Promise.all(attempts)) {
      expect([400, 403]).toContain(response.status)
    }
    expect((await listMissing('lies', started)).missing_count).toBe(2)
    expect((await listMissing('lies', other)).missing_count).toBe(1)
    expect((await send(second, secondPart)).status).toBe(200)
    expect((await listMissing('lies', started)).missing_chunks.map(({ index }) => index)).toEqual([
      0,
    ])
  })

  test('detects a byte that the store changed before the file was ready, and requests that chunk again', async () => {
    const large = twoChunks(103)
    const started = await start('flipped', 'flipped.gguf', large)
    for (const chunk of started.upload.missing_chunks) await send(chunk, cut(large, chunk))
    const [url = ''] = started.upload.missing_chunks.map((chunk) => chunk.url)
    await finishWith(url, flipped(large))
    await registry.post(`/v1/models/flipped/files/${started.id}/complete`, { token: ana })
    const file = await settled(registry, ana, 'flipped', started.id)
    expect(file).toMatchObject({
      status: 'uploading',
      status_detail: 'stored bytes do not match the manifest; send these chunks again: 1',
    })
    const { missing_chunks } = await listMissing('flipped', started)
    expect(missing_chunks.map(({ index }) => index)).toEqual([1])
    for (const chunk of missing_chunks)
      expect((await send(chunk, cut(large, chunk))).status).toBe(200)
    await registry.post(`/v1/models/flipped/files/${started.id}/complete`, { token: ana })
    expect(await settled(registry, ana, 'flipped', started.id)).toMatchObject({ status: 'ready' })
    const { direct_url } = await getDownload('flipped', started.id)
    const whole = Buffer.from(await (await fetch(direct_url)).arrayBuffer())
    expect(sha256(whole)).toBe(sha256(large))
  })

  test('can be checked with shoal admin check, which detects a byte that the store has changed', async () => {
    const bytes = smallGguf(5)
    const file = await publish(registry, ana, { name: 'rotten' }, 'rotten.gguf', bytes)
    const { direct_url } = await getDownload('rotten', file.id)
    const Key = toName(direct_url)
    await withClient((client) =>
      client.send(new PutObjectCommand({ Bucket: Bucket(), Key, Body: flipped(bytes) })),
    )
    const admin = await openAdmin(registry.config)
    const { problems } = await admin.check().finally(admin.close)
    expect(problems).toMatchObject([{ sha256_hash: file.sha256_hash, models: ['rotten'] }])
  })

  test('removes the bytes of deleted files and canceled uploads, but none that belong to another registry', async () => {
    const large = twoChunks(104)
    const other = await startTestRegistry({ s3: { ...config, prefix: 'another/' } })
    const theirs = await other.register('ben')
    await publish(other, theirs, { name: 'theirs' }, 'theirs.gguf', smallGguf(1))
    const before = await listNames()
    const kept = await publish(registry, ana, { name: 'brief' }, 'brief.gguf', smallGguf(6))
    const { direct_url } = await getDownload('brief', kept.id)
    const open = await start('brief', 'open.gguf', large)
    expect(await countUploads(open)).toBe(1)

    await registry.call('DELETE', '/v1/models/brief', { token: ana })
    expect(await countUploads(open)).toBe(0)
    expect(await listNames()).toContain(toName(direct_url)) // in the trash
    const admin = await openAdmin(registry.config)
    try {
      await admin.collectGarbage()
      await admin.trash.empty()
    } finally {
      await admin.close()
    }
    expect(await listNames()).toEqual(before)
    await other.close()
  })
})

describe.skipIf(!hasS3)('an S3 store that does not check chunks', () => {
  test('accepts wrong bytes, but the registry detects them before the file is ready and requests the chunk again', async () => {
    const proxy = await startProxyWithoutHeaders((await s3Address()).endpoint, [
      'x-amz-content-sha256',
      'x-amz-checksum-sha256',
    ])
    onTestFinished(proxy.stop)
    const { bucket, ...rest } = await makeBucket()
    const registry = await startTestRegistry({
      s3: { ...rest, bucket: { ...bucket, endpoint: proxy.endpoint } },
    })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const large = twoChunks(105)
    const body = manifestFor('tide.gguf', large)
    const files = '/v1/models/tide/files'
    const started: StartedUpload = (await registry.post(files, { token, body })).body
    const upload = `${files}/${started.id}`
    const complete = async () => {
      await registry.post(`${upload}/complete`, { token })
      return settled(registry, token, 'tide', started.id)
    }
    for (const chunk of started.upload.missing_chunks) {
      expect(chunk.headers).toEqual({})
      const bytes = cut(large, chunk)
      const sent = chunk.index === 1 ? flipped(bytes) : bytes
      const { status } = await fetch(chunk.url, { method: 'PUT', body: new Uint8Array(sent) })
      expect(status).toBe(200)
    }
    expect(await complete()).toMatchObject({
      status: 'uploading',
      status_detail: 'stored bytes do not match the manifest; send these chunks again: 1',
    })
    const { body: left }: { body: StartedUpload['upload'] } = await registry.get(
      `${upload}/upload`,
      { token },
    )
    expect(left.missing_chunks.map(({ index }) => index)).toEqual([1])
    for (const chunk of left.missing_chunks) {
      await fetch(chunk.url, { method: 'PUT', body: new Uint8Array(cut(large, chunk)) })
    }
    expect(await complete()).toMatchObject({ status: 'ready', sha256_hash: sha256(large) })
  })
})

describe.skipIf(!hasS3)('garbage collection in an S3 store', () => {
  test("removes only old, unknown objects and uploads whose keys have the registry's own format", async () => {
    const config = await makeBucket()
    const registry = await startTestRegistry({ s3: config })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    await publish(registry, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
    const body = manifestFor('open.gguf', smallGguf(2))
    const started: StartedUpload = (await registry.post('/v1/models/tide/files', { token, body }))
      .body
    const known = new URL(started.upload.missing_chunks[0]?.url ?? '').pathname.split('/').at(-1)
    const before = await listBucket(config)

    const orphan = `shoal/objects/${randomUUID()}`
    const orphans = [`shoal/objects/${randomUUID()}`, `shoal/objects/${known}`]
    const foreign = [
      `other/objects/${randomUUID()}`,
      `shoal/objects/${randomUUID()}.bak`,
      'shoal/objects/x',
      `shoal/${randomUUID()}`,
    ]
    await withS3Client(config, async (client, Bucket) => {
      for (const Key of [orphan, ...foreign]) {
        await client.send(new PutObjectCommand({ Bucket, Key, Body: 'bytes' }))
      }
      for (const Key of [...orphans, ...foreign]) {
        await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
      }
    })

    const { db } = await registry.connect()
    const { store } = await openS3(config, {
      signingKey: '',
      baseUrl: () => '',
      isProbed: false,
    })
    const trash = openTrash({ db, store, retentionDays: 7 })
    const nothing = { objects: 0, bytes: 0 }
    // All objects and uploads are younger than a day.
    expect(await garbageCollection(db, store, trash).collect()).toMatchObject({
      leftUploads: nothing,
      trashed: nothing,
    })
    const collect = garbageCollection(db, store, trash, { minAgeMs: 0 })
    expect(await collect.collect()).toMatchObject({
      leftUploads: { objects: 2 },
      trashed: { objects: 1, bytes: 5 },
    })
    await trash.empty()
    const after = await listBucket(config)
    expect(after.objects.sort()).toEqual([...before.objects, ...foreign].sort())
    expect(after.uploads.sort()).toEqual([...before.uploads, ...foreign].sort())
    const { body: upload }: { body: StartedUpload['upload'] } = await registry.get(
      `/v1/models/tide/files/${started.id}/upload`,
      { token },
    )
    expect(upload.missing_count).toBe(1)
  })
})

test.skipIf(!hasS3)(
  "an S3 bucket keeps its own rules when shoal's are added or changed",
  async () => {
    const config = await makeBucket()
    const registry = await startTestRegistry({ s3: config, baseUrl: 'https://one.example' })
    onTestFinished(() => registry.close())
    const cors = { ID: 'theirs', AllowedOrigins: ['https://x.example'], AllowedMethods: ['GET'] }
    const lifecycle = {
      ID: 'theirs',
      Status: 'Enabled' as const,
      Filter: { Prefix: 'theirs/' },
      Expiration: { Days: 3 },
    }
    await withS3Client(config, async (client, Bucket) => {
      await client.send(
        new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [cors] } }),
      )
      await client.send(
        new PutBucketLifecycleConfigurationCommand({
          Bucket,
          LifecycleConfiguration: { Rules: [lifecycle] },
        }),
      )
    })
    const admin = await openAdmin(registry.config)
    onTestFinished(admin.close)
    expect(await admin.describeStore(false)).toMatchObject({
      found: { cors: false, lifecycle: false },
    })
    for (let times = 0; times < 2; times += 1) {
      expect(await admin.describeStore(true)).toMatchObject({
        found: { cors: true, lifecycle: true },
      })
    }
    await withS3Client(config, async (client, Bucket) => {
      const { CORSRules = [] } = await client.send(new GetBucketCorsCommand({ Bucket }))
      expect(CORSRules).toHaveLength(2)
      expect(CORSRules).toContainEqual(expect.objectContaining(cors))
      const { Rules = [] } = await client.send(
        new GetBucketLifecycleConfigurationCommand({ Bucket }),
      )
      expect(Rules).toHaveLength(2)
      expect(Rules).toContainEqual(
        expect.objectContaining({ ID: 'theirs', Expiration: { Days: 3 } }),
      )
    })
  },
)

describe.skipIf(!hasS3)('an unavailable S3 store', () => {
  let server: S3Server
  beforeAll(async () => {
    const started = await startS3()
    if (!started) throw new Error('the S3 server is not installed')
    server = started
  })
  afterAll(() => server?.stop())

  test('causes 503 with Retry-After until it is available again, and loses nothing', async () => {
    const registry = await startTestRegistry({ s3: await makeBucket(server.address) })
    const token = await registry.register('ana')
    const bytes = smallGguf(1)
    await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
    const body = manifestFor('second.gguf', smallGguf(2))
    const start = () => registry.post('/v1/models/tide/files', { token, body })

    await server.stopGateway()
    const refused = await start()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await registry.get('/v1/models/tide')).status).toBe(200)
    const ready = await registry.get('/readyz')
    expect(ready).toMatchObject({ status: 503, body: { detail: 'the store is not available' } })

    await server.startGateway()
    await expect.poll(async () => (await registry.get('/readyz')).status).toBe(200)
    expect((await start()).status).toBe(201)
    const second = await publish(registry, token, { name: 'tide' }, 'second.gguf', smallGguf(2))
    expect(second.status).toBe('ready')
    await registry.close()
  })

  test('causes 503 with Retry-After within the request timeout if it accepts connections but does not respond', async () => {
    const config = await makeBucket(server.address)
    const timeouts = { ...defaultTimeouts, requestMs: 1_000 }
    const registry = await startTestRegistry({ s3: { ...config, timeouts } })
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const body = manifestFor('tide.gguf', smallGguf(1))
    const start = () => registry.post('/v1/models/tide/files', { token, body })

    server.pauseGateway()
    const refused = await start()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')

    server.resumeGateway()
    await expect.poll(async () => (await start()).status).toBeLessThan(300)
    await registry.close()
  })

  test('does not make shoal admin check report files as missing', async () => {
    const registry = await startTestRegistry({ s3: await makeBucket(server.address) })
    const token = await registry.register('ana')
    await publish(registry, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
    const admin = await openAdmin(registry.config)
    await server.stopGateway()
    await expect(admin.check()).rejects.toMatchObject({ code: 'unavailable' })
    await server.startGateway()
    expect(await admin.check()).toMatchObject({ files: 1, problems: [] })
    await admin.close()
    await registry.close()
  })
})

test.skipIf(!hasS3)(
  'a registry with a wrong S3 setting does not start, and the error contains the name of the variable',
  async () => {
    const right = await makeBucket()
    const { bucket, credentials } = right
    const wrong: [Partial<S3Config>, string][] = [
      [{ bucket: { ...bucket, bucket: 'no-such-bucket' } }, 'SHOAL_S3_BUCKET'],
      [{ bucket: { ...bucket, endpoint: 'http://127.0.0.1:1' } }, 'SHOAL_S3_ENDPOINT'],
      [{ credentials: { ...credentials, accessKeyId: 'nobody' } }, 'SHOAL_S3_ACCESS_KEY_ID'],
      [{ credentials: { ...credentials, secretAccessKey: 'no' } }, 'SHOAL_S3_SECRET_ACCESS_KEY'],
    ]
    for (const [change, variable] of wrong) {
      await expect(startTestRegistry({ s3: { ...right, ...change } })).rejects.toThrow(variable)
    }
  },
)

test.skipIf(!hasS3).each([
  [['s3:ListBucket'], 'list the bucket'],
  [['s3:PutObject', 's3:DeleteObject'], 'upload objects to the bucket'],
  [['s3:GetObject'], 'read objects in the bucket'],
  [['s3:DeleteObject'], 'delete objects in the bucket'],
])('a startup error identifies the key that lacks the permissions %j', async (denied, action) => {
  const config = await makeBucket()
  const { bucket } = config.bucket
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: denied,
    Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await withS3Client(config, (client, Bucket) =>
    client.send(new PutBucketPolicyCommand({ Bucket, Policy })),
  )
  await expect(startTestRegistry({ s3: config })).rejects.toThrow(
    `the access key in SHOAL_S3_ACCESS_KEY_ID is not allowed to ${action} ${bucket} (SHOAL_S3_BUCKET)`,
  )
})

/** The names of all objects in a bucket, including those that are still being uploaded. */
const listBucket = (config: S3Config) =>
  withS3Client(config, async (client, Bucket) => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }))
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }))
    return {
      objects: Contents.map(({ Key = '' }) => Key),
      uploads: Uploads.map(({ Key = '' }) => Key),
    }
  })

/** The bytes of a chunk. */
const cut = (bytes: Buffer, { index, size }: { index: number; size: number }) =>
  Buffer.from(bytes.subarray(index * chunkSize, index * chunkSize + size))

/** A copy in which the last byte has changed. */
function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1)
  return copy
}
