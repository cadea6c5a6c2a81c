/** The picture of a model, for previews of links to its page. */
import type { FastifyPluginAsync } from 'fastify'
import { viewerOf } from '../accounts/caller.ts'
import type { ModelRepository } from '../models/model-repository.ts'
import { drawSchool } from './draw-school.ts'

type Dependencies = { models: ModelRepository }

/** A picture takes some milliseconds to draw, and a few kilobytes. */
const keptAtMost = 500
const hidden = { schema: { hide: true } }

export const schoolRoutes: FastifyPluginAsync<Dependencies> = async (app, { models }) => {
  const kept = new Map<string, Buffer>()

  app.get<{ Params: { name: string } }>('/m/:name/school.png', hidden, async (request, reply) => {
    const { name, parameter_count } = await models.getRow(
      request.params.name,
      viewerOf(request.caller, 'read'),
    )
    const key = `${name} ${parameter_count}`
    const picture = kept.get(key) ?? drawSchool(name, parameter_count ?? 0)
    kept.delete(key)
    kept.set(key, picture)
    if (kept.size > keptAtMost) kept.delete(kept.keys().next().value ?? '')
    return reply.type('image/png').send(picture)
  })
}
