import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CardRenderer, RenderedCard } from '@shoal/cards'
import { endpoints } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { toViewer } from '../accounts/caller.ts'
import type { ModelRepository } from '../models/model-repository.ts'

type Dependencies = { models: ModelRepository; cards: CardRenderer }

/**
 * Headers for a card's HTML, which is untrusted. If a browser opens the card as a separate page, these headers prevent
 * it from acting as a page of the registry.
 */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
}

export const cardRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { models, cards },
) => {
  app.route({
    ...endpoints.getCard,
    config: { isCompressible: true },
    async handler({ params, query, caller }, reply) {
      const model = await models.get(params.id, toViewer(caller, 'read'))
      const card = await cards.render(model.readme ?? '', {
        images: query.images === '1',
        names: [model.display_name, model.name],
      })
      return send(reply, card)
    },
  })

  app.route({
    ...endpoints.renderCard,
    async handler(request, reply) {
      request.signedIn()
      const { readme, names } = request.body
      return send(reply, await cards.render(readme, { images: false, names }))
    },
  })
}

function send(reply: FastifyReply, { html, retryAfterSeconds }: RenderedCard) {
  if (retryAfterSeconds !== undefined) {
    reply.header('retry-after', retryAfterSeconds).header('cache-control', 'no-store')
  }
  return reply.headers(headers).send(html)
}
