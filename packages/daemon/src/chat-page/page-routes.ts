/** The chat page. It comes from here, and not from a registry, since browsers guard the way from other pages to this machine. */
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { ChatSite } from '@shoal/web'
import type { FastifyPluginAsync } from 'fastify'
import { pageHeaders } from './page-headers.ts'

const yearSeconds = 365 * 86_400
/** Clients that look for Ollama on this port ask for this, and speak /v1 with whoever answers so. */
const ollamaText = 'Ollama is running'

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
      .headers(pageHeaders)
      .type('text/html; charset=utf-8')
      .send(page(headers.cookie ?? ''))
  })
  await app.register(fastifyStatic, {
    root: join(directory, 'assets'),
    prefix: '/assets/',
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply) => {
      reply.header('cache-control', `public, max-age=${yearSeconds}, immutable`)
      reply.header('x-content-type-options', 'nosniff')
    },
  })
  app.get('/favicon.svg', (_request, reply) =>
    reply.header('cache-control', 'public, max-age=86400').sendFile('favicon.svg', directory),
  )
}
