import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compress, type Encoding } from '@shoal/server/cache'
import type { FastifyInstance } from 'fastify'

const directory = join(fileURLToPath(import.meta.resolve('@fastify/swagger-ui')), '../static')

const types = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
} as const

/**
 * Serves the scripts and styles of Swagger UI, compressed from 2.1 MB to 0.6 MB. Each file is read and compressed when
 * it is first requested, and then kept in memory. Must be registered after `caching`, and after a hook that makes the
 * routes compressible.
 */
export function docsFiles(app: FastifyInstance, prefix: string) {
  for (const [name, type] of Object.entries(types)) {
    let body: Promise<Buffer> | undefined
    const compressed: Partial<Record<Encoding, Promise<Buffer>>> = {}
    app.get(`${prefix}/static/${name}`, { schema: { hide: true } }, async (request, reply) => {
      body ??= readFile(join(directory, name))
      const content = await body
      request.compressOnce = (encoding) => {
        compressed[encoding] ??= compress(content, encoding)
        return compressed[encoding]
      }
      return reply
        .type(type)
        .header('cache-control', 'public, no-cache')
        .header('x-content-type-options', 'nosniff')
        .send(content)
    })
  }
}
