/**
 * The chat page. The daemon serves it, and not a registry, since browsers restrict access from other pages to this
 * machine.
 */
import { pageHeaders, serveAssets } from '@shoal/server'
import type { ChatSite } from '@shoal/web'
import type { FastifyPluginAsync } from 'fastify'

/** Clients that look for Ollama on this port request this, and use /v1 of a server that answers so. */
const ollamaText = 'Ollama is running'

const chatPageHeaders = {
  ...pageHeaders({ referrerPolicy: 'no-referrer' }),
  'cache-control': 'private, no-cache',
}

export const pageRoutes: FastifyPluginAsync<{ chat: ChatSite | undefined }> = async (
  app,
  { chat },
) => {
  if (!chat) {
    app.get('/', (_request, reply) => reply.type('text/plain').send(ollamaText))
    return
  }
  const { directory, page } = chat
  // A browser has no key to send before the page has asked for it.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOpen: true }
  })

  app.get('/', ({ headers }, reply) => {
    reply.header('vary', 'Origin, Accept, Cookie')
    if (!headers.accept?.includes('text/html')) return reply.type('text/plain').send(ollamaText)
    return reply
      .headers(chatPageHeaders)
      .type('text/html; charset=utf-8')
      .send(page(headers.cookie ?? ''))
  })
  await serveAssets(app, directory)
}
