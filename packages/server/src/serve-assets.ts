import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const yearSeconds = 365 * 86_400
const daySeconds = 86_400

/**
 * Serves the pages' static files in `directory`: the files `names`, such as the icon, and the folder `assets`, in which
 * each filename contains a hash of the file's content.
 */
export async function serveAssets(
  app: FastifyInstance,
  directory: string,
  names: readonly string[] = ['favicon.svg'],
) {
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
  for (const name of names) {
    app.get(`/${name}`, (_request, reply) =>
      reply.header('cache-control', `public, max-age=${daySeconds}`).sendFile(name, directory),
    )
  }
}
