import { stat } from 'node:fs/promises'
import { endpoints } from '@shoal/protocol'
import { type Releases, releaseRoutes } from '@shoal/releases'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sendBytes } from '../http/send-bytes.ts'
import type { Site } from '../http/site.ts'
import { openObjectReader } from '../store/object-reader.ts'
import type { RegistryStore } from '../store/served-store.ts'

type Dependencies = {
  releases: Releases
  isPacking: () => boolean
  site: Pick<Site, 'baseUrl'>
  store: Pick<RegistryStore, 'budget'>
  /** Renders a page; undefined if the pages are not built. */
  showPage: ((request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) | undefined
}

/** Serves `/install`, and sends files like those of models. */
export const ownReleaseRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { releases, isPacking, site, store, showPage },
) => {
  // These routes do not require an account, even on a members-only registry.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOpen: true }
    route.schema ??= { hide: true }
  })
  await app.register(releaseRoutes, {
    releases,
    isPacking,
    showPage,
    listRoute: endpoints.getReleases,
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
