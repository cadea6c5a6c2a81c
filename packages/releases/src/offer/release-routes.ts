/** Serves `/install`: a page for browsers, a script for all other clients, and the files that the script downloads. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isLoopback } from '@shoal/core/addresses'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { notFound } from '../errors.ts'
import { releaseFiles } from '../format/index.ts'
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
  /** Sends the page for browsers. If undefined, browsers get the script too. */
  showPage: ((request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) | undefined
  /** The route of the list of releases that the page shows. */
  listRoute: Omit<RouteOptions, 'handler'>
}

const notices = {
  no_release:
    'This registry does not offer a release of shoal yet. To add one, its operator can run “npm run release” in a clone of shoal, and then “shoal admin releases add dist/release” on the host of the registry.',
  packing:
    'This registry is preparing shoal for installation, which takes about a minute after an update. Please try again in a minute.',
  loopback_base_url:
    'This registry cannot offer shoal to other machines, because its base URL works only on the registry’s own machine. Its operator can set SHOAL_BASE_URL to the address that other machines use.',
}

export const releaseRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  const { releases, isPacking, isFromThisMachine, sendFile, showPage, listRoute } = dependencies
  const listOffered = ({ log }: FastifyRequest) =>
    releases.listOffered((error) => log.warn({ err: error }, 'a release of shoal is damaged'))

  /** Returns the releases to offer, or the reason why there are none. */
  async function findOffered(request: FastifyRequest) {
    const baseUrl = dependencies.baseUrl()
    if (isLoopback(new URL(baseUrl).hostname) && !isFromThisMachine(request)) {
      return 'loopback_base_url'
    }
    const offered = await listOffered(request)
    if (offered.length > 0) return { offered, script: installScript(baseUrl, offered) }
    return isPacking() ? 'packing' : 'no_release'
  }

  app.get('/install', async (request, reply) => {
    reply.header('vary', 'Accept')
    if (showPage && request.headers.accept?.includes('text/html')) return showPage(request, reply)
    const found = await findOffered(request)
    if (found === 'loopback_base_url') reply.code(403)
    return reply
      .type('text/x-shellscript; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(typeof found === 'string' ? messageScript(notices[found]) : found.script)
  })

  app.route({
    ...listRoute,
    async handler(request) {
      const found = await findOffered(request)
      if (typeof found === 'string') {
        return { releases: [], status: found, script_sha256: null, key_sha256s: [] }
      }
      return {
        releases: found.offered.map(({ archive, release }) => ({
          version: release.version,
          platform: archive.platform,
          files: release.files.map(({ name, sizeBytes, sha256 }) => ({
            filename: name,
            size_bytes: sizeBytes,
            sha256,
          })),
        })),
        status: 'offered',
        script_sha256: createHash('sha256').update(found.script).digest('hex'),
        key_sha256s: [...new Set(found.offered.map(({ release }) => release.keyFingerprint))],
      }
    },
  })

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
