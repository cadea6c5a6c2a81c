/** Tests the S3 store with a server that hangs, stalls, refuses requests or is full. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startS3Proxy } from '../../../../../testing/s3/s3-proxy.ts'
import { hasS3, s3Address } from '../../../../../testing/servers.ts'
import { manifestFor, publish, smallGguf } from '../../testing/publish.ts'
import { makeBucket, withS3Client } from '../../testing/s3-bucket.ts'
import { startTestRegistry } from '../../testing/test-registry.ts'
import type { S3Config } from './open-s3.ts'
import { defaultTimeouts, type S3Timeouts } from './s3-client.ts'
import { openS3Store } from './s3-store.ts'
import { minimalSupport } from './s3-support.ts'

type Proxy = Awaited<ReturnType<typeof startS3Proxy>>

/** Larger than all buffers between the store and its reader. */
const sizeBytes = 16 * 1024 * 1024
const whole = { start: 0, size: sizeBytes }
const bytes = randomBytes(sizeBytes)

describe.skipIf(!hasS3)('an S3 store with a server that does not work', () => {
  let config: S3Config
  let proxy: Proxy
  const key = randomUUID()

  beforeAll(async () => {
    config = await makeBucket()
    await withS3Client(config, (client, Bucket) =>
      client.send(new PutObjectCommand({ Bucket, Key: `shoal/objects/${key}`, Body: bytes })),
    )
  })
  beforeEach(async () => {
    proxy = await startS3Proxy((await s3Address()).endpoint)
    onTestFinished(proxy.stop)
  })

  const behindProxy = (real: S3Config, timeouts?: Partial<S3Timeouts>): S3Config => ({
    ...real,
    bucket: { ...real.bucket, endpoint: proxy.endpoint },
    timeouts: { ...defaultTimeouts, ...timeouts },
  })
  const openStore = (timeouts?: Partial<S3Timeouts>) =>
    openS3Store({
      ...behindProxy(config, timeouts),
      support: minimalSupport,
      signingKey: 'a key for tests',
      baseUrl: () => '',
    })

  async function startRegistry(timeouts?: Partial<S3Timeouts>) {
    const bucket = await makeBucket()
    const registry = await startTestRegistry({ s3: behindProxy(bucket, timeouts) })
    onTestFinished(() => registry.close())
    return { registry, token: await registry.register('ana') }
  }

  test('reads fail if a response pauses for too long, and release its connection', async () => {
    const store = openStore({ silenceMs: 200 })
    proxy.stallAfter(1_000_000)
    const reading = (async () => {
      for await (const _part of store.read(key, whole));
    })()
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' })
    expect(proxy.countStalled()).toBe(2) // the read was retried
    await expect.poll(proxy.countOpen).toBe(0)
  })

  test('a caller that pauses for longer than the timeout can still read everything', async () => {
    const store = openStore({ silenceMs: 200 })
    const hash = createHash('sha256')
    let parts = 0
    for await (const part of store.read(key, whole)) {
      hash.update(part)
      if (parts++ < 2) await sleep(500)
    }
    expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  test('closing an object ends a read in progress, and so does an abort', async () => {
    const store = openStore()
    proxy.stallAfter(1_000)
    const stop = new AbortController()
    for (const end of ['close', 'abort'] as const) {
      const stalledBefore = proxy.countStalled()
      const reader = await store.open(key, whole, stop.signal)
      const filled = reader.fill([new Uint8Array(sizeBytes)], 0)
      filled.catch(() => undefined) // expected below
      await expect.poll(proxy.countStalled).toBe(stalledBefore + 1)
      if (end === 'abort') stop.abort(new Error('enough'))
      else await reader.close()
      await expect(filled).rejects.toThrow(end === 'abort' ? 'enough' : 'closed')
      await reader.close()
      await expect.poll(proxy.countOpen).toBe(0)
    }
  })

  test('if a client disconnects while the store stalls, the connection to the store is released', async () => {
    const { registry, token } = await startRegistry()
    const file = await publish(
      registry,
      token,
      { name: 'tide', is_public: false },
      'tide.gguf',
      smallGguf(1, sizeBytes),
    )
    const download = await registry.get(`/v1/files/tide/download/${file.id}`, { token })
    const magnet = new URL((download.body as { magnet_uri: string }).magnet_uri)
    const webSeed = magnet.searchParams.get('ws') ?? ''
    proxy.stallAfter(1_000_000)
    const leave = new AbortController()
    const received = (await fetch(webSeed, { signal: leave.signal })).arrayBuffer()
    received.catch(() => undefined) // expected below
    await expect.poll(proxy.countStalled).toBe(1)
    leave.abort(new Error('the client has left'))
    await expect(received).rejects.toThrow('has left')
    await expect.poll(proxy.countOpen).toBe(0)
  })

  test('a registry that processes a file while the store stalls can be stopped', async () => {
    const { registry, token } = await startRegistry({ silenceMs: 3_600_000 })
    const file = smallGguf(1)
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const body = manifestFor('tide.gguf', file)
    const started = await registry.post('/v1/models/tide/files', { token, body })
    const { id, upload } = started.body as {
      id: string
      upload: { missing_chunks: { url: string; headers: Record<string, string> }[] }
    }
    for (const { url, headers } of upload.missing_chunks) {
      await fetch(url, { method: 'PUT', headers, body: new Uint8Array(file) })
    }
    // The file's header is read with range requests, after the hashes have been computed from the whole object.
    proxy.change((request) => {
      if (request.headers.range) proxy.stallAfter(0)
      return request
    })
    await registry.post(`/v1/models/tide/files/${id}/complete`, { token })
    await expect.poll(proxy.countStalled).toBe(1)
    await registry.stop()
    await expect.poll(proxy.countOpen).toBe(0)
    expect(proxy.countStalled()).toBe(1) // the read was not retried
  })

  test('sixty slow readers do not prevent other requests to the store', async () => {
    const store = openStore({ requestMs: 20_000, checkMs: 20_000 })
    const readers = await Promise.all(Array.from({ length: 60 }, () => store.open(key, whole)))
    await Promise.all(readers.map((reader) => reader.fill([new Uint8Array(1)], 0)))
    expect(proxy.countOpen()).toBe(60)
    await store.check()
    expect(await store.hasObject(key, sizeBytes)).toBe(true)
    await Promise.all(readers.map((reader) => reader.close()))
  })

  test('reopening an object fails and leaves no upload behind if the store becomes full while good chunks are copied', async () => {
    const store = openStore()
    for (const refusal of [
      { status: 403, code: 'QuotaExceeded' },
      { status: 507, code: 'XMinioStorageFull' },
    ]) {
      proxy.change((request) => (request.method === 'PUT' ? refusal : request))
      const layout = { sizeBytes, chunkSize: sizeBytes / 2 }
      const reopened = store.reopenUpload(key, layout, [1])
      await expect(reopened).rejects.toMatchObject({ code: 'unavailable' })
    }
    for await (const { isUpload } of store.list()) expect(isUpload).toBe(false)
  })

  test.each([
    ['is full (Ceph)', { status: 403, code: 'QuotaExceeded' }],
    ['is full (MinIO)', { status: 507, code: 'XMinioStorageFull' }],
    [
      'asks for a long pause',
      { status: 503, code: 'SlowDown', headers: { 'retry-after': '3600' } },
    ],
  ])('starting an upload returns 503 with Retry-After if the store %s', async (_title, refusal) => {
    const { registry, token } = await startRegistry({ requestMs: 2_000 })
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    proxy.change((request) => (request.method === 'POST' ? refusal : request))
    const body = manifestFor('tide.gguf', smallGguf(1))
    const refused = await registry.post('/v1/models/tide/files', { token, body })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
  })
})
