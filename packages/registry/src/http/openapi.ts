import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { caching } from '@shoal/server/cache'
import type { FastifyInstance, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import type { TObject } from 'typebox'
import { docsFiles } from './docs-files.ts'
import type { Site } from './site.ts'

type Options = {
  version: string
  site: Site
  /** The folder with the web pages' static files, including the logo; undefined if the pages have not been built. */
  pagesDirectory: string | undefined
}

const docsPath = '/docs'
const svg = 'image/svg+xml'

const toFavicon = (content: string) => ({
  filename: 'logo.svg',
  rel: 'icon',
  sizes: 'any',
  type: svg,
  content,
})

/** Shown if the pages, and with them the logo, have not been built. Swagger UI would otherwise show its own logo. */
const noLogo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"/>'

/** The hash of the only inline style in Swagger UI's page. */
const styleHash = 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='

/**
 * Allows the page to send requests only to the registry. Omits `upgrade-insecure-requests`, so that the page also works
 * over plain HTTP on a LAN.
 */
const contentSecurityPolicy = `default-src 'self'; style-src 'self' '${styleHash}'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'`

/**
 * Serves `/openapi.json`, generated from the schemas that validate requests, and a readable reference at `/docs`, which
 * loads nothing from other hosts. Both describe the program but none of its data, so they are open to everyone, even on
 * a members-only registry.
 */
export const openapi = fp(
  async (app: FastifyInstance, { version, site, pagesDirectory }: Options) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'shoal registry',
          version,
          description:
            'Find, publish and download GGUF models. Every error response is a JSON object with a `detail` and often a `code` and `errors`.',
          license: { name: 'Apache-2.0' },
        },
        servers: [{ url: '/' }],
        tags: [
          { name: 'models', description: 'Search, read and publish models' },
          { name: 'files', description: "A model's GGUF files and their chunked upload" },
          { name: 'downloads', description: 'URLs, chunks and torrents' },
          { name: 'accounts', description: 'Accounts, sessions and API keys' },
          { name: 'administration', description: 'Accounts, storage and the audit log' },
        ],
        components: {
          securitySchemes: {
            bearer: {
              type: 'http',
              scheme: 'bearer',
              description: 'a session token or an API key',
            },
          },
        },
        security: [{}, { bearer: [] }],
      },
      refResolver: {
        buildLocalReference: (schema, _base, _fragment, index) =>
          String(schema.$id ?? `def-${index}`),
      },
      transform({ schema, url, route }) {
        const shown = withOptionalDefaults(schema)
        return { schema: 'isAnonymous' in route ? { ...shown, security: [] } : shown, url }
      },
      transformObject(document) {
        if (!('openapiObject' in document)) return document.swaggerObject
        const { openapiObject } = document
        const problem = {
          description: 'An error',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        }
        for (const path of Object.values(openapiObject.paths ?? {})) {
          delete path?.head // HEAD is implied by GET, and does not apply to redirects
          for (const operation of Object.values(path ?? {})) {
            if (typeof operation !== 'object' || !('responses' in operation)) continue
            operation.responses.default ??= problem
          }
        }
        return openapiObject
      },
    })

    const logo = pagesDirectory
      ? await readFile(join(pagesDirectory, 'favicon.svg'), 'utf8')
      : noLogo
    await app.register(async (docs) => {
      await docs.register(caching)
      docs.addHook('onRoute', (route) => {
        route.config = { ...route.config, isOpen: true, isCompressible: true }
      })
      docsFiles(docs, docsPath)
      await docs.register(swaggerUi, {
        routePrefix: docsPath,
        staticCSP: contentSecurityPolicy,
        theme: { title: 'shoal registry', favicon: [toFavicon(logo)] },
        logo: { type: svg, content: logo, href: '/', target: '_self' },
        uiConfig: { docExpansion: 'list', deepLinking: true, persistAuthorization: true },
      })
    })

    await app.register(async (description) => {
      await description.register(caching)
      description.get(
        '/openapi.json',
        { config: { isOpen: true, isCompressible: true }, schema: { hide: true } },
        (_request, reply) =>
          reply.header('content-location', `${site.baseUrl()}/openapi.json`).send(app.swagger()),
      )
    })
  },
)

/** Marks query parameters that have a default as optional. */
function withOptionalDefaults(schema: FastifySchema): FastifySchema {
  const query = schema?.querystring as TObject | undefined
  if (!query?.required) return schema
  const required = query.required.filter((name) => !('default' in (query.properties[name] ?? {})))
  return { ...schema, querystring: { ...query, required } }
}
