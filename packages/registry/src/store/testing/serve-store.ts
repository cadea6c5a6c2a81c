import Fastify from 'fastify'
import { afterAll } from 'vitest'
import { blobRoutes } from '../../files/downloads/blob-routes.ts'
import type { Capabilities } from '../../files/downloads/capability.ts'
import type { BlobRepository } from '../../files/rows/blob-repository.ts'
import { handleError } from '../../http/error-handler.ts'
import type { Site } from '../../http/site.ts'
import type { RegistryStore } from '../served-store.ts'
import type { StoreUnderTest } from './object-store.contract.ts'

/** Opens a store, and serves the registry's presigned routes, which need only the store. */
export async function serveStore<Opened extends { store: RegistryStore }>(
  open: (baseUrl: () => string) => Promise<Opened>,
) {
  const app = Fastify()
  let baseUrl = ''
  const opened = await open(() => baseUrl)
  app.setErrorHandler(handleError)
  app.register(blobRoutes, {
    store: opened.store,
    trash: { has: async () => false, removeOldest: async () => ({ objects: 0, bytes: 0 }) },
    blobs: {} as BlobRepository,
    capabilities: {} as Capabilities,
    site: {} as Site,
    config: { isAnonymousReadAllowed: true },
  })
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  afterAll(() => app.close())
  return { ...opened, request }
}

const request: StoreUnderTest['request'] = async (method, url, { bytes, headers } = {}) => {
  const body = bytes && { body: new Uint8Array(bytes) }
  const response = await fetch(url, { method, ...(headers && { headers }), ...body })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}
