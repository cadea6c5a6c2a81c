import { randomBytes, randomUUID } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { chunkSizeFor, createChunkHasher } from '@shoal/model-file'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPartNumberProxy } from '../../../../../testing/s3/part-number-proxy.ts'
import { startProxyWithoutHeaders } from '../../../../../testing/s3/s3-proxy.ts'
import type { S3Address } from '../../../../../testing/s3/start-s3.ts'
import { hasS3, s3Address } from '../../../../../testing/servers.ts'
import { makeBucket, withS3Client } from '../../testing/s3-bucket.ts'
import { objectStoreContract } from '../testing/object-store.contract.ts'
import { serveStore } from '../testing/serve-store.ts'
import { openS3 } from './open-s3.ts'
import { s3Presigner, sha256Hex } from './presign-s3.ts'
import { maxExpirySeconds, type S3Store } from './s3-store.ts'

/** Opens a store in a new bucket, and serves the registry's routes for requests that the S3 server does not support. */
const openServedStore = (address: S3Address) =>
  serveStore(async (baseUrl) =>
    openS3(await makeBucket(address), { signingKey: 'a key for tests', baseUrl, isProbed: true }),
  )

describe.skipIf(!hasS3)('S3', () => {
  const open = async () => openServedStore(await s3Address())
  objectStoreContract('S3', open)

  test('the probe finds that radosgw checks chunks and does not serve parts', async () => {
    const { support } = await open()
    expect(support).toEqual({
      takesContentHash: true,
      takesChecksum: true,
      refusesWrongBytes: true,
      servesParts: false,
    })
  })

  test.each([
    [
      ['x-amz-checksum-sha256'],
      { takesContentHash: true, takesChecksum: false, refusesWrongBytes: true },
    ],
    [
      ['x-amz-content-sha256'],
      { takesContentHash: false, takesChecksum: true, refusesWrongBytes: false },
    ],
    [
      ['x-amz-content-sha256', 'x-amz-checksum-sha256'],
      { takesContentHash: false, takesChecksum: false, refusesWrongBytes: false },
    ],
  ])(
    'the probe finds that a store does not accept %s in presigned URLs',
    async (refused, expected) => {
      const address = await s3Address()
      const proxy = await startProxyWithoutHeaders(address.endpoint, refused)
      onTestFinished(proxy.stop)
      const { support } = await openServedStore({ ...address, endpoint: proxy.endpoint })
      expect(support).toEqual({ ...expected, servesParts: false })
    },
  )

  describe('an object in a store that checks chunks', () => {
    /** Larger than one chunk. */
    const bytes = randomBytes(chunkSizeFor(1) + 1)
    const declared = createChunkHasher(bytes.length)
    declared.update(bytes)
    const { sha256_hash, chunkHashes } = declared.digest()
    let store: S3Store
    const key = randomUUID()
    beforeAll(async () => {
      const config = await makeBucket()
      const options = { signingKey: 'a key for tests', baseUrl: () => '', isProbed: true }
      store = (await openS3(config, options)).store
      await withS3Client(config, (client, Bucket) =>
        client.send(new PutObjectCommand({ Bucket, Key: `shoal/objects/${key}`, Body: bytes })),
      )
    })

    test('is not hashed chunk by chunk again if its SHA-256 is the declared one', async () => {
      const unchecked = new Uint8Array(chunkHashes.length)
      const hashes = await store.hash(key, bytes.length, {
        declared: { sha256_hash, chunkHashes: unchecked },
      })
      expect(hashes.sha256_hash).toBe(sha256_hash)
      expect(hashes.chunkHashes).toBe(unchecked)
      const whole = await store.hash(key, bytes.length)
      expect(whole.chunkHashes).toEqual(chunkHashes)
      expect(hashes.pieceHashes).toEqual(whole.pieceHashes)
    })

    test('is hashed chunk by chunk if its SHA-256 is not the declared one', async () => {
      const other = { sha256_hash: '0'.repeat(64), chunkHashes: new Uint8Array(chunkHashes.length) }
      const hashes = await store.hash(key, bytes.length, { declared: other })
      expect(hashes).toMatchObject({ sha256_hash, chunkHashes })
    })
  })

  test('a chunk can be sent with a URL that was signed days ago', async () => {
    const config = await makeBucket()
    const options = { signingKey: 'a key for tests', baseUrl: () => '', isProbed: false }
    const { store } = await openS3(config, options)
    const layout = { sizeBytes: 5, chunkSize: 5 }
    const key = randomUUID()
    const uploadId = (await store.startUpload({ key, uploadId: null }, layout)) ?? ''
    const bytes = Buffer.from('bytes')
    const put = (daysAgo: number) => {
      const headers = { 'x-amz-content-sha256': sha256Hex(bytes) }
      const url = s3Presigner(config.bucket, config.credentials)(
        {
          method: 'PUT',
          key: `shoal/objects/${key}`,
          query: { partNumber: '1', uploadId },
          headers,
          expiresInSeconds: maxExpirySeconds,
        },
        new Date(Date.now() - daysAgo * 86_400_000),
      )
      return fetch(url, { method: 'PUT', body: bytes, headers })
    }
    expect((await put(8)).status).toBe(403)
    expect((await put(6)).status).toBe(200)
    expect(await store.listStoredChunks({ key, uploadId }, layout)).toEqual(new Set([0]))
  })
})

describe.skipIf(!hasS3)('S3 with part numbers', () => {
  let stop: () => Promise<void>
  afterAll(() => stop?.())
  objectStoreContract('S3 that serves parts', async () => {
    const proxy = await startPartNumberProxy((await s3Address()).endpoint)
    stop = proxy.stop
    const served = await openServedStore({ ...(await s3Address()), endpoint: proxy.endpoint })
    expect(served.support).toMatchObject({ servesParts: true, refusesWrongBytes: true })
    return served
  })
})
