import { stat } from 'node:fs/promises'
import { type Releases, releaseRoutes } from '@shoal/releases'
import type { FastifyPluginAsync } from 'fastify'
import { sendBytes } from '../http/send-bytes.ts'
import type { Site } from '../http/site.ts'
import { openObjectReader } from '../store/object-reader.ts'
import type { RegistryStore } from '../store/served-store.ts'

type Dependencies = {
  releases: Releases
  isPacking: () => boolean
  site: Pick<Site, 'baseUrl'>
  store: Pick<RegistryStore, 'budget'>
}

/** Serves `/install`, and sends files like those of models. */
export const ownReleaseRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { releases, isPacking, site, store },
) => {
  // These routes do not require an account, even on a members-only registry.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOpen: true }
    route.schema = { ...route.schema, hide: true }
  })
  await app.register(releaseRoutes, {
    releases,
    isPacking,
    baseUrl: site.baseUrl,
    isFromThisMachine: (request) => request.isFromThisMachine(),
    sendFile: async (request, reply, { path, etag }) =>
      sendBytes(request, reply, {
        etag,
        sizeBytes: (await stat(path)).size,
        open: () => openObjectReader(path),
        budget: store.budget,
      }),
  })
}
