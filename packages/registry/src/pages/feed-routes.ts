/** Atom feeds of new models (RFC 4287). */
import type { Model } from '@shoal/protocol'
import { formatPath, pageFiles, pages } from '@shoal/protocol/pages'
import { escapeMarkup } from '@shoal/server/markup'
import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { anonymous } from '../accounts/caller.ts'
import type { QueryTurns } from '../http/query-turns.ts'
import type { Site } from '../http/site.ts'
import type { ModelList } from '../models/model-list.ts'

type Dependencies = { list: ModelList; site: Site; turns: QueryTurns }
type Feed = { title: string; path: string; models: readonly Model[] }

const maxEntries = 50
const config = { isCompressible: true }
const hidden = { schema: { hide: true }, config }
const searchable = {
  schema: { hide: true, querystring: Type.Object({ q: Type.Optional(Type.String()) }) },
  config,
}

export const feedRoutes: FastifyPluginAsync<Dependencies> = async (app, { list, site, turns }) => {
  const newest = async (filter: { q?: string; owner?: string }) =>
    (
      await list.list(
        { ...filter, limit: maxEntries, offset: 0, sort: 'created_at', order: 'desc' },
        anonymous,
      )
    ).models

  app.get<{ Querystring: { q?: string } }>(pageFiles.feed, searchable, async (request, reply) => {
    const { q } = request.query
    const models = q ? await turns.run(request, reply, () => newest({ q })) : await newest({})
    const path = q ? `${pageFiles.feed}?${new URLSearchParams({ q })}` : pageFiles.feed
    const title = q ? `shoal: new models for “${q}”` : 'shoal: new models'
    return reply.type(atom).send(feedText({ title, path, models }, site.baseUrl()))
  })

  app.get<{ Params: { username: string } }>(
    pageFiles.ownerFeed,
    hidden,
    async ({ params: { username } }, reply) => {
      const models = await newest({ owner: username.toLowerCase() })
      const path = formatPath(pageFiles.ownerFeed, { username })
      const title = `shoal: new models by ${username}`
      return reply.type(atom).send(feedText({ title, path, models }, site.baseUrl()))
    },
  )
}

const atom = 'application/atom+xml; charset=utf-8'

function feedText({ title, path, models }: Feed, baseUrl: string): string {
  const updated = models[0]?.created_at ?? new Date(0).toISOString()
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escapeMarkup(baseUrl + path)}</id>
  <title>${escapeMarkup(title)}</title>
  <updated>${updated}</updated>
  <link rel="self" type="application/atom+xml" href="${escapeMarkup(baseUrl + path)}"/>
  <link rel="alternate" type="text/html" href="${escapeMarkup(baseUrl)}/"/>
${models.map((model) => entryText(model, baseUrl)).join('\n')}
</feed>
`
}

function entryText(model: Model, baseUrl: string): string {
  const { id, name, display_name, description, owner, created_at, updated_at, tags } = model
  return `  <entry>
    <id>urn:uuid:${id}</id>
    <title>${escapeMarkup(display_name)}</title>
    <link rel="alternate" type="text/html" href="${escapeMarkup(baseUrl + formatPath(pages.model, { name }))}"/>
    <published>${created_at}</published>
    <updated>${updated_at}</updated>
    <author><name>${escapeMarkup(owner)}</name></author>
    <summary>${escapeMarkup(description ?? display_name)}</summary>
${tags.map((tag) => `    <category term="${escapeMarkup(tag)}"/>`).join('\n')}
  </entry>`
}
