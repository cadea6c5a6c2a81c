/** robots.txt (RFC 9309) and sitemaps (https://www.sitemaps.org) for search engines. */
import { formatPath, pages } from '@shoal/protocol/pages'
import { escapeMarkup } from '@shoal/server/markup'
import type { FastifyPluginAsync } from 'fastify'
import { notFound } from '../errors.ts'
import type { QueryTurns } from '../http/query-turns.ts'
import type { Site } from '../http/site.ts'
import type { ModelList, PublicNames } from '../models/model-list.ts'

type Dependencies = {
  list: ModelList
  site: Site
  turns: QueryTurns
  config: { isAnonymousReadAllowed: boolean }
}

/**
 * Fewer than the 50,000 URLs that a sitemap may contain, because processing that many would delay all other requests by
 * 0.1 s, and the response would be too large for the cache.
 */
const maxAddresses = 5_000
/** These routes never require visitors to sign in. On a members-only registry, the sitemaps are empty. */
const open = { schema: { hide: true }, config: { isOpen: true, isCompressible: true } }
const xml = 'application/xml; charset=utf-8'

export const searchEngineRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { list, site, turns, config: { isAnonymousReadAllowed } },
) => {
  app.get('/robots.txt', open, (_request, reply) => {
    const rules = isAnonymousReadAllowed
      ? [
          ...['Disallow: /v1/', 'Disallow: /blobs/', 'Disallow: /settings', 'Disallow: /admin'],
          `Disallow: ${pages.publish}`,
        ]
      : ['Disallow: /']
    const lines = ['User-agent: *', ...rules, `Sitemap: ${site.baseUrl()}/sitemap.xml`, '']
    return reply.type('text/plain; charset=utf-8').send(lines.join('\n'))
  })

  app.get('/sitemap.xml', open, async (request, reply) => {
    if (!isAnonymousReadAllowed) return reply.type(xml).send(sitemapText([]))
    const text = await turns.run(request, reply, async () => {
      const first = await list.listPublicNames(maxAddresses, 0)
      const pages = countPages(first)
      return pages > 1 ? indexText(pages, site.baseUrl()) : sitemap(1, first)
    })
    return reply.type(xml).send(text)
  })

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d+$).xml',
    open,
    async (request, reply) => {
      if (!isAnonymousReadAllowed) {
        if (request.params.page !== '1') throw missing(request.params.page)
        return reply.type(xml).send(sitemapText([]))
      }
      const page = Number(request.params.page)
      const text = await turns.run(request, reply, async () => {
        if (page < 1) throw missing(request.params.page)
        const names = await list.listPublicNames(maxAddresses, (page - 1) * maxAddresses)
        if (page > countPages(names)) throw missing(request.params.page)
        return sitemap(page, names)
      })
      return reply.type(xml).send(text)
    },
  )

  /** Returns one of the sitemaps. `page` is counted from 1. */
  function sitemap(page: number, { models }: PublicNames): string {
    const home = page === 1 ? [{ address: site.baseUrl() + pages.models }] : []
    const addresses = models.map(({ name, updated_at }) => ({
      address: site.baseUrl() + formatPath(pages.model, { name }),
      updatedAt: updated_at,
    }))
    return sitemapText([...home, ...addresses])
  }
}

/** Computes the number of sitemaps, which is at least 1, because the first sitemap contains the home page. */
const countPages = ({ total }: PublicNames) => Math.max(1, Math.ceil(total / maxAddresses))

const missing = (page: string) => notFound(`there is no sitemap ${page}`)

type Address = { address: string; updatedAt?: string }

function sitemapText(addresses: Address[]): string {
  const entries = addresses.map(({ address, updatedAt }) => {
    const changed = updatedAt ? `<lastmod>${updatedAt}</lastmod>` : ''
    return `  <url><loc>${escapeMarkup(address)}</loc>${changed}</url>`
  })
  return document('urlset', entries)
}

function indexText(pages: number, baseUrl: string): string {
  const entries = Array.from(
    { length: pages },
    (_, page) => `  <sitemap><loc>${escapeMarkup(baseUrl)}/sitemap-${page + 1}.xml</loc></sitemap>`,
  )
  return document('sitemapindex', entries)
}

const document = (name: string, entries: string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<${name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('\n')}
</${name}>
`
