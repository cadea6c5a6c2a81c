import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { type Viewer, viewerOf } from '../accounts/caller.ts'
import { notFound } from '../errors.ts'
import type { ModelRepository } from '../models/model-repository.ts'
import type { StoredChunk } from './blob-repository.ts'
import type { FileRepository } from './file-repository.ts'
import { type FilePath, findFile } from './find-file.ts'
import { type DownloadDependencies, getDownload, readyHash } from './get-download.ts'

type Dependencies = DownloadDependencies & { models: ModelRepository; files: FileRepository }

/** Long enough for a slow client to begin with the chunk, short enough to be of no use to others. */
const chunkLifetimeSeconds = 3_600

export const downloadRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  dependencies,
) => {
  const { files, blobs, store, capabilities, site } = dependencies

  app.route({
    ...endpoints.getDownload,
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { model, file } = await findFile(dependencies, request)
      reply.header('cache-control', 'no-store')
      return getDownload(dependencies, model, file)
    },
  })

  /** Neither counts nor signs. */
  app.head<FilePath>(endpoints.getDownload.url, hidden, async (request, reply) => {
    const { file } = await findFile(dependencies, request)
    readyHash(file)
    return reply.header('cache-control', 'no-store').type('application/json').send('')
  })

  app.route({
    ...endpoints.getChunk,
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    config: { rateLimitClass: 'chunk' },
    async handler({ params, caller, method }, reply) {
      const viewer: Viewer = viewerOf(caller, 'read')
      const hash = params.chunk_hash.toLowerCase()
      const file = await blobs.findFileByHash(hash, viewer)
      if (file) return redirectToFile(reply, method, file)
      return redirectToChunk(reply, method, await blobs.findChunk(hash, viewer), hash)
    },
  })

  app.route({
    ...endpoints.getChunkByToken,
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    config: { rateLimitClass: 'chunk', isOpen: true },
    async handler({ params, method }, reply) {
      const file = await capabilities.getByAccessToken(params.token)
      const hash = params.chunk_hash.toLowerCase()
      if (file.blob_hash === hash) return redirectToFile(reply, method, file)
      const chunk = await blobs.findChunkOf(file.blob_hash ?? '', hash)
      return redirectToChunk(reply, method, chunk, hash)
    },
  })

  /** To a URL that torrent clients may keep: its token is in the path and lives seven days. */
  async function redirectToFile(
    reply: FastifyReply,
    method: string,
    file: { id: string; filename: string; visibility_version: number },
  ) {
    if (method === 'HEAD') {
      const { file_size_bytes, sha256_hash } = await files.getReady(file.id)
      return describeBytes(reply, file_size_bytes, sha256_hash)
    }
    const token = capabilities.bytesToken(file)
    const url = `${site.baseUrl()}/blobs/${token}/${encodeURIComponent(file.filename)}`
    return redirect(reply, url)
  }

  function redirectToChunk(
    reply: FastifyReply,
    method: string,
    chunk: StoredChunk | undefined,
    hash: string,
  ) {
    if (!chunk) throw notFound(`no chunk ${hash}`)
    if (method === 'HEAD') return describeBytes(reply, chunk.size, hash)
    const { objectKey, ...part } = chunk
    const url = store.presignRead(objectKey, {
      filename: hash,
      expiresInSeconds: chunkLifetimeSeconds,
      part,
    })
    return redirect(reply, url)
  }
}

const hidden = { schema: { hide: true } }

function redirect(reply: FastifyReply, url: string) {
  return reply.code(302).header('location', url).header('cache-control', 'no-store').send('')
}

/** What a HEAD is told of the bytes, in place of a redirect to a URL that is signed for GET alone. */
function describeBytes(reply: FastifyReply, size: number, hash: string) {
  return reply
    .code(200)
    .header('content-length', size)
    .header('accept-ranges', 'bytes')
    .header('etag', `"${hash}"`)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'Authorization, Cookie')
    .type('application/octet-stream')
    .send('')
}
