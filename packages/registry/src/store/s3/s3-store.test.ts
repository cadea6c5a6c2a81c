import Fastify from 'fastify'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { startPartNumberProxy } from '../../../../../testing/s3/part-number-proxy.ts'
import type { S3Address } from '../../../../../testing/s3/start-s3.ts'
import { blobRoutes } from '../../files/downloads/blob-routes.ts'
import type { Capabilities } from '../../files/downloads/capability.ts'
import type { BlobRepository } from '../../files/rows/blob-repository.ts'
import { handleError } from '../../http/error-handler.ts'
import type { Site } from '../../http/site.ts'
import { makeBucket } from '../../testing/s3-bucket.ts'
import { objectStoreContract } from '../object-store.contract.ts'
import { openS3 } from './open-s3.ts'

const s3 = inject('s3')

/** Opens a store in a new bucket, and serves the registry's routes for requests that the S3 server does not support. */
async function openServedStore(address: S3Address) {
  const app = Fastify()
  let baseUrl = ''
  const { store, support } = await openS3(await makeBucket(address), {
    signingKey: 'a key for tests',
    baseUrl: () => baseUrl,
    isProbed: true,
  })
  app.setErrorHandler(handleError)
  app.register(blobRoutes, {
    store,
    trash: { has: async () => false, removeOldest: async () => ({ objects: 0, bytes: 0 }) },
    blobs: {} as BlobRepository,
    capabilities: {} as Capabilities,
    site: {} as Site,
    config: { isAnonymousReadAllowed: true },
  })
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  afterAll(async () => {
    await app.close()
  })
  return { store, support, request }
}

async function request(
  method: 'GET' | 'PUT',
  url: string,
  { bytes, headers }: { bytes?: Buffer; headers?: Record<string, string> } = {},
) {
  const body = bytes && { body: new Uint8Array(bytes) }
  const response = await fetch(url, { method, ...(headers && { headers }), ...body })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

describe.skipIf(!s3)('S3', () => {
  const address = s3 as S3Address
  objectStoreContract('S3', () => openServedStore(address))

  test('the probe finds that radosgw checks chunks and does not serve parts', async () => {
    const { support } = await openServedStore(address)
    expect(support).toEqual({
      takesContentHash: true,
      takesChecksum: true,
      refusesWrongBytes: true,
      servesParts: false,
    })
  })
})

describe.skipIf(!s3)('S3 with part numbers', () => {
  let stop: () => Promise<void>
  afterAll(() => stop?.())
  objectStoreContract('S3 that serves parts', async () => {
    const proxy = await startPartNumberProxy((s3 as S3Address).endpoint)
    stop = proxy.stop
    const served = await openServedStore({ ...(s3 as S3Address), endpoint: proxy.endpoint })
    expect(served.support).toMatchObject({ servesParts: true, refusesWrongBytes: true })
    return served
  })
})
