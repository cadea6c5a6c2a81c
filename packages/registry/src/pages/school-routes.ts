/** Serves a model's picture, which other sites show in previews of links to the model's page. */
import { pageFiles } from '@shoal/protocol/pages'
import type { FastifyPluginAsync } from 'fastify'
import { LRUCache } from 'lru-cache'
import { toViewer } from '../accounts/caller.ts'
import type { ModelRepository } from '../models/model-repository.ts'
import { drawSchool } from './draw-school.ts'

type Dependencies = { models: ModelRepository }

/** Limits of the cache. A picture takes a few milliseconds to draw, and a few kilobytes of memory. */
const maxCachedPictures = 500
const maxCachedBytes = 8 * 1024 * 1024
const hidden = { schema: { hide: true } }

export const schoolRoutes: FastifyPluginAsync<Dependencies> = async (app, { models }) => {
  const cache = new LRUCache<string, Buffer>({
    max: maxCachedPictures,
    maxSize: maxCachedBytes,
    sizeCalculation: ({ byteLength }) => byteLength + 1_000, // for the key and the objects
  })

  app.get<{ Params: { name: string } }>(pageFiles.modelPicture, hidden, async (request, reply) => {
    const { name, parameter_count } = await models.getRow(
      request.params.name,
      toViewer(request.caller, 'read'),
    )
    const key = `${name} ${parameter_count}`
    const picture = cache.get(key) ?? drawSchool(name, parameter_count ?? 0)
    cache.set(key, picture)
    return reply.type('image/png').send(picture)
  })
}
