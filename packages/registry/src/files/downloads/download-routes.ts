import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Download, endpoints } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { toViewer, type Viewer } from '../../accounts/caller.ts'
import { notFound } from '../../errors.ts'
import { redirect } from '../../http/redirect.ts'
import type { ModelRepository } from '../../models/model-repository.ts'
import type { DownloadCounter } from '../counting/download-counter.ts'
import { bytesGone, isFile, type NamedFile, type StoredChunk } from '../rows/blob-repository.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { type FilePath, findFile } from '../rows/find-file.ts'
import { type DownloadDependencies, describeDownload, readyHash } from './get-download.ts'

type Dependencies = DownloadDependencies & {
  models: ModelRepository
  files: FileRepository
  downloads: DownloadCounter
}

/** Long enough for a slow client to start its request, but short enough to limit the harm if the URL leaks. */
const chunkLifetimeSeconds = 3_600

export const downloadRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  dependencies,
) => {
  const { files, blobs, downloads, store, capabilities, site } = dependencies

  app.route({
    ...endpoints.lookUpFiles,
    handler: ({ body, caller }) => blobs.lookUp(body.sha256_hashes, toViewer(caller, 'read')),
  })

  app.route({
    ...endpoints.getDownload,
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { model_id, file_id } = request.params
      const viewer = toViewer(request.caller, 'read')
      const file = await blobs.findReadyFile(model_id, file_id, viewer)
      if (!file) throw await explainAbsence(request)
      const download = await describeDownload(dependencies, file)
      const count = () => downloads.count(file.model_id)
      await count() // last, so that failed requests are not counted
      request.beforeCached = count
      return reply
        .header('cache-control', 'no-store')
        .type('application/json; charset=utf-8')
        .send(download as unknown as Download) // already JSON, so no serializer runs
    },
  })

  /** Throws or returns the error that explains why no ready file was found. */
  async function explainAbsence(request: Parameters<typeof findFile>[1]): Promise<Error> {
    const { file } = await findFile(dependencies, request)
    readyHash(file)
    return bytesGone()
  }

  /** Unlike GET, HEAD neither counts a download nor signs URLs. */
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
      const viewer: Viewer = toViewer(caller, 'read')
      const hash = params.chunk_hash.toLowerCase()
      const found = await blobs.findByHash(hash, viewer)
      if (found && isFile(found)) return leadToFile(reply, method, found)
      return leadToChunk(reply, method, found, hash)
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
      if (file.blob_hash === hash) return leadToFile(reply, method, file)
      const chunk = await blobs.findFileChunk(file.blob_hash ?? '', hash)
      return leadToChunk(reply, method, chunk, hash)
    },
  })

  async function leadToFile(reply: FastifyReply, method: string, file: NamedFile) {
    if (method !== 'HEAD') return redirect(reply, site.baseUrl() + capabilities.bytesPath(file))
    const { file_size_bytes, sha256_hash } = await files.getReady(file.id)
    return describeBytes(reply, file_size_bytes, sha256_hash)
  }

  function leadToChunk(
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

/** Responds to HEAD requests directly instead of redirecting them, since target URLs are signed for GET requests. */
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
