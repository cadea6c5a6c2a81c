import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import type { BlobRepository } from '../files/blob-repository.ts'
import { blobRoutes } from '../files/blob-routes.ts'
import type { Capabilities } from '../files/capability.ts'
import { handleError } from '../http/error-handler.ts'
import { type DiskStore, openDiskStore } from './disk-store.ts'
import { objectStoreContract } from './object-store.contract.ts'

const directory = await mkdtemp(join(tmpdir(), 'shoal-store-'))
const app = Fastify()
let address = ''
const store: DiskStore = await openDiskStore({
  directory,
  signingKey: 'a key for tests',
  baseUrl: () => address,
})
app.setErrorHandler(handleError)
// The contract asks for the presigned routes alone, which need neither of the two.
app.register(blobRoutes, { store, blobs: {} as BlobRepository, capabilities: {} as Capabilities })
address = await app.listen({ host: '127.0.0.1', port: 0 })

afterAll(async () => {
  await app.close()
  await rm(directory, { recursive: true })
})

objectStoreContract('disk', async () => ({
  store,
  async request(method, url, { bytes, headers } = {}) {
    const body = bytes && { body: new Uint8Array(bytes) }
    const response = await fetch(url, { method, ...(headers && { headers }), ...body })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  },
}))

test('a disk store whose file ends early says so, and sends no bytes as if they were all', async () => {
  const key = 'cut-short'
  const layout = { sizeBytes: 100, chunkSize: 100 }
  await store.startUpload(key, layout)
  await store.finishUpload(key, layout)
  const file = await open(join(directory, 'objects', 'rt', key), 'r+')
  await file.truncate(40)
  await file.close()
  const reading = async () => {
    for await (const _ of store.read(key, { start: 0, size: 100 }));
  }
  await expect(reading()).rejects.toThrow('ends at byte 40')
})
