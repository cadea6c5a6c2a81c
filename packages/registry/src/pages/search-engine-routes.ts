/** What search engines ask for before they look around: https://www.sitemaps.org, RFC 9309. */
import type { FastifyPluginAsync } from 'fastify'
import { notFound } from '../errors.ts'
import type { Site } from '../http/site.ts'
import type { ModelRepository } from '../models/model-repository.ts'
import { escapeMarkup } from './escape-markup.ts'

type Dependencies = {
  models: ModelRepository
  site: Site
  config: { isAnonymousReadAllowed: boolean }
}

/** So many addresses one sitemap may have. */
const addressesAtMost = 50_000
/** Also on a registry for members, where they say that there is nothing to see. */
const open = { schema: { hide: true }, config: { isOpen: true } }
const xml = 'application/xml; charset=utf-8'

export const searchEngineRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { models, site, config: { isAnonymousReadAllowed } },
) => {
  app.get('/robots.txt', open, (_request, reply) => {
    const rules = isAnonymousReadAllowed
      ? ['Disallow: /v1/', 'Disallow: /blobs/', 'Disallow: /settings', 'Disallow: /publish']
      : ['Disallow: /']
    const lines = ['User-agent: *', ...rules, `Sitemap: ${site.baseUrl()}/sitemap.xml`, '']
    return reply.type('text/plain; charset=utf-8').send(lines.join('\n'))
  })

  app.get('/sitemap.xml', open, async (_request, reply) => {
    if (!isAnonymousReadAllowed) return reply.type(xml).send(sitemapText([]))
    const pages = await countPages()
    const text = pages > 1 ? indexText(pages, site.baseUrl()) : await sitemap(1)
    return reply.type(xml).send(text)
  })

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d+$).xml',
    open,
    async (request, reply) => {
      const page = Number(request.params.page)
      const pages = isAnonymousReadAllowed ? await countPages() : 1
      if (page < 1 || page > pages) throw notFound(`there is no sitemap ${request.params.page}`)
      const text = isAnonymousReadAllowed ? await sitemap(page) : sitemapText([])
      return reply.type(xml).send(text)
    },
  )

  /** At least one, which has the front page. */
  async function countPages(): Promise<number> {
    return Math.max(1, Math.ceil((await models.countPublic()) / addressesAtMost))
  }

  /** `page` counts from 1. */
  async function sitemap(page: number): Promise<string> {
    const rows = await models.listPublicNames(addressesAtMost, (page - 1) * addressesAtMost)
    const home = page === 1 ? [{ address: `${site.baseUrl()}/` }] : []
    const addresses = rows.map(({ name, updated_at }) => ({
      address: `${site.baseUrl()}/m/${name}`,
      updatedAt: updated_at,
    }))
    return sitemapText([...home, ...addresses])
  }
}

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
