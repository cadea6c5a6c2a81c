/**
 * Serves the chat page. The daemon, not a registry, serves it, because browsers restrict how pages from other servers
 * can access this machine.
 */
import { findRegistryLabel } from '@shoal/core/references'
import { pageHeaders, serveAssets } from '@shoal/server'
import type { ChatSite } from '@shoal/web'
import type { FastifyPluginAsync } from 'fastify'

/**
 * The response to `/` for clients that look for Ollama on this port. Only if they receive this text do they use the
 * daemon's APIs.
 */
const ollamaText = 'Ollama is running'

const chatPageHeaders = {
  ...pageHeaders({ referrerPolicy: 'no-referrer' }),
  'cache-control': 'private, no-cache',
}

type Dependencies = {
  chat: ChatSite | undefined
  /** The address of the registry from which the daemon pulls; undefined if it has none. */
  registry: string | undefined
}

export const pageRoutes: FastifyPluginAsync<Dependencies> = async (app, { chat, registry }) => {
  if (!chat) {
    app.get('/', (_request, reply) => reply.type('text/plain').send(ollamaText))
    return
  }
  const { directory, page } = chat
  // These routes require no key, because the browser has no key until the page has asked the user for one.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOpen: true }
  })

  app.get('/', ({ headers }, reply) => {
    reply.header('vary', 'Origin, Accept, Cookie')
    if (!headers.accept?.includes('text/html')) return reply.type('text/plain').send(ollamaText)
    return reply
      .headers(chatPageHeaders)
      .type('text/html; charset=utf-8')
      .send(page(headers.cookie ?? '', registry && findRegistryLabel(registry)))
  })
  await serveAssets(app, directory)
}
