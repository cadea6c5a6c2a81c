/** Serves `/install`: a page for browsers, a script for all other clients, and the files that the script downloads. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isLoopback } from '@shoal/core/addresses'
import { pageHeaders } from '@shoal/server'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../errors.ts'
import { releaseFiles } from '../format/index.ts'
import { installPage, noticePage, stylePath, styleSheet } from './install-page.ts'
import { installScript, messageScript } from './install-script.ts'
import type { Releases } from './releases.ts'

type Dependencies = {
  releases: Pick<Releases, 'listOffered'>
  /** Whether the registry is packing its own program, in which case there will be a release soon. */
  isPacking: () => boolean
  baseUrl: () => string
  /** Whether the request comes from a program on this machine. */
  isFromThisMachine: (request: FastifyRequest) => boolean
  /** Sends a file, or the range of it that the request asks for. The file never changes; `etag` identifies it. */
  sendFile: (
    request: FastifyRequest,
    reply: FastifyReply,
    file: { path: string; etag: string },
  ) => Promise<unknown>
}

const empty =
  'This registry does not offer a release of shoal yet. To add one, its operator can run “npm run release” in a clone of shoal, and then “shoal admin releases add dist/release” on the host of the registry.'

const packing =
  'This registry is preparing shoal for installation, which takes about a minute after an update. Please try again in a minute.'

const unreachable = (baseUrl: string) =>
  `This registry cannot offer shoal to other machines, because its base URL is ${baseUrl}, which works only on the registry’s own machine. Its operator can set SHOAL_BASE_URL to the address that other machines use.`

export const releaseRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { releases, isPacking, isFromThisMachine, sendFile, ...site },
) => {
  const listOffered = ({ log }: FastifyRequest) =>
    releases.listOffered((error) => log.warn({ err: error }, 'a release of shoal is damaged'))

  app.get('/install', async (request, reply) => {
    reply.header('vary', 'Accept')
    const baseUrl = site.baseUrl()
    if (isLoopback(new URL(baseUrl).hostname) && !isFromThisMachine(request)) {
      return sendNotice(request, reply.code(403), unreachable(baseUrl))
    }
    const offered = await listOffered(request)
    if (offered.length === 0) return sendNotice(request, reply, isPacking() ? packing : empty)
    const script = installScript(baseUrl, offered)
    return acceptsPage(request)
      ? sendPage(reply, installPage(baseUrl, offered, script))
      : sendScript(reply, script)
  })

  app.get(stylePath, (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(styleSheet),
  )

  app.get<{ Params: { platform: string; file: string } }>(
    '/install/:platform/:file',
    async (request, reply) => {
      const { platform, file } = request.params
      const offered = await listOffered(request)
      const release = offered.find(({ archive }) => archive.platform === platform)?.release
      if (!release) throw notFound(`there is no release of shoal for ${platform}`)
      const known = [...release.files.map(({ name }) => name), ...Object.values(releaseFiles)]
      if (!known.includes(file))
        throw notFound(`shoal ${release.version} for ${platform} has no ${file}`)
      const path = join(release.folder, file)
      reply.header('cache-control', 'no-cache').header('x-content-type-options', 'nosniff')
      const etag = `"${createHash('sha256').update(`${release.id}/${file}`).digest('hex')}"`
      return sendFile(request, reply, { path, etag })
    },
  )
}

const acceptsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true

const sendNotice = (request: FastifyRequest, reply: FastifyReply, notice: string) =>
  acceptsPage(request)
    ? sendPage(reply, noticePage(notice))
    : sendScript(reply, messageScript(notice))

const sendPage = (reply: FastifyReply, page: string) =>
  reply
    .headers(pageHeaders({ referrerPolicy: 'same-origin' }))
    .type('text/html; charset=utf-8')
    .send(page)

const sendScript = (reply: FastifyReply, script: string) =>
  reply
    .type('text/x-shellscript; charset=utf-8')
    .header('x-content-type-options', 'nosniff')
    .send(script)
