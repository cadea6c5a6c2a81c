/** Tests that the S3 store lists everything when the server returns listings in several pages. */
import { randomUUID } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type ProxiedRequest, queryOf, startS3Proxy } from '../../../../../testing/s3/s3-proxy.ts'
import { hasS3 } from '../../../../../testing/servers.ts'
import { makeBucket, withS3Client } from '../../testing/s3-bucket.ts'
import type { ObjectStore, StoredEntry } from '../object-store.ts'
import type { S3Config } from './open-s3.ts'
import { s3Presigner, sha256Hex } from './presign-s3.ts'
import { openS3Store } from './s3-store.ts'
import { minimalSupport } from './s3-support.ts'

const pageSize = 2

/** Returns the parameter that limits the size of a listing's pages, or undefined if the request is not a listing. */
function findLimit(request: ProxiedRequest): string | undefined {
  const query = queryOf(request)
  if (request.method !== 'GET') return undefined
  if (query.has('uploads')) return 'max-uploads'
  if (query.has('list-type')) return 'max-keys'
  return query.has('uploadId') ? 'max-parts' : undefined
}

/**
 * Starts a proxy that makes the server return listings in small pages, and counts the pages. The proxy changes each
 * listing request and signs it again.
 */
async function startPagingProxy({ bucket, credentials }: S3Config) {
  const presign = s3Presigner(bucket, credentials)
  const pages: Record<string, number> = {}
  const proxy = await startS3Proxy(bucket.endpoint, {
    change(request) {
      const limit = findLimit(request)
      if (!limit) return request
      pages[limit] = (pages[limit] ?? 0) + 1
      const { pathname } = new URL(request.path, bucket.endpoint)
      const url = presign({
        method: 'GET',
        key: decodeURIComponent(pathname.slice(`/${bucket.bucket}/`.length)),
        query: { ...Object.fromEntries(queryOf(request)), [limit]: `${pageSize}` },
        expiresInSeconds: 60,
      })
      const path = url.slice(bucket.endpoint.length)
      return { method: 'GET', path, headers: { host: new URL(bucket.endpoint).host } }
    },
  })
  return { ...proxy, pages }
}

describe.skipIf(!hasS3)('listings in several pages', () => {
  let config: S3Config
  let store: ObjectStore
  let pages: Record<string, number>
  beforeEach(async () => {
    config = await makeBucket()
    const proxy = await startPagingProxy(config)
    pages = proxy.pages
    store = openS3Store({
      ...config,
      bucket: { ...config.bucket, endpoint: proxy.endpoint },
      support: minimalSupport,
      signingKey: 'a key for tests',
      baseUrl: () => '',
    })
    onTestFinished(proxy.stop)
  })

  test('contain all chunks of an upload', async () => {
    const layout = { sizeBytes: 5_000, chunkSize: 1_000 }
    const key = randomUUID()
    const upload = { key, uploadId: await store.startUpload({ key, uploadId: null }, layout) }
    const body = new Uint8Array(1_000)
    for (const index of [0, 1, 2, 3, 4]) {
      const chunk = { index, start: index * 1_000, size: 1_000, hash: sha256Hex(body) }
      const { url, headers } = store.presignChunkUpload(
        upload,
        chunk,
        new Date(Date.now() + 60_000),
      )
      await fetch(url, { method: 'PUT', headers, body })
    }
    expect(await store.listStoredChunks(upload, layout)).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(pages['max-parts']).toBe(3)
  })

  async function listAll() {
    const entries: StoredEntry[] = []
    for await (const entry of store.list()) entries.push(entry)
    return entries
  }

  test('contain all objects and all uploads, even two uploads of the same object', async () => {
    const objects = Array.from({ length: 5 }, () => randomUUID()).sort()
    await withS3Client(config, async (client, Bucket) => {
      for (const key of objects) {
        await client.send(new PutObjectCommand({ Bucket, Key: `shoal/objects/${key}`, Body: key }))
      }
    })
    const layout = { sizeBytes: 5, chunkSize: 5 }
    const uploads = await Promise.all(
      [...objects.slice(0, 4), ...objects.slice(3, 4)].map(async (key) => ({
        key,
        uploadId: await store.startUpload({ key, uploadId: null }, layout),
      })),
    )
    const listed = await listAll()
    expect(listed.filter(({ isUpload }) => !isUpload).map(({ key }) => key)).toEqual(objects)
    const found = listed.filter(({ isUpload }) => isUpload).map(({ uploadId }) => uploadId)
    expect(found.sort()).toEqual(uploads.map(({ uploadId }) => uploadId).sort())
    expect(pages).toMatchObject({ 'max-keys': 3, 'max-uploads': 3 })

    // Removing an object ends all of its uploads.
    await store.remove(objects[3] ?? '')
    const left = await listAll()
    expect(left.filter(({ key }) => key === objects[3])).toEqual([])
    expect(left).toHaveLength(listed.length - 3)
  })
})
