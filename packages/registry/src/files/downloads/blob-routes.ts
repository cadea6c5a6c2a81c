import { hasCode } from '@shoal/core/errors'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { forbidden } from '../../errors.ts'
import { redirect } from '../../http/redirect.ts'
import { sendBytes } from '../../http/send-bytes.ts'
import type { Site } from '../../http/site.ts'
import type { ChunkWriter } from '../../store/chunk-writer.ts'
import { attachment } from '../../store/disk-store.ts'
import { bytesGone } from '../../store/object-reader.ts'
import { chunkMismatch } from '../../store/receive-chunk.ts'
import type { RegistryStore } from '../../store/served-store.ts'
import { isUnavailable } from '../../unavailable.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { Trash } from '../rows/trash.ts'
import type { Capabilities } from './capability.ts'

type Dependencies = {
  store: RegistryStore
  trash: Pick<Trash, 'has' | 'removeOldest'>
  blobs: BlobRepository
  capabilities: Capabilities
  site: Site
  config: { isAnonymousReadAllowed: boolean }
}

/** Passed as the current time, so that tokens never count as expired. */
const beforeAnyExpiry = 0

/** May be cached by clients but not by shared proxies, because anyone who has the link may read the bytes. */
const keptForAnHour = 'private, max-age=3600, immutable'

/**
 * The longest lifetime that S3 allows for a presigned URL. A long lifetime is needed because torrent clients keep using
 * a redirect's target while they run.
 */
const expiresInSeconds = 7 * 86_400

/** Serves the registry's presigned URLs: bytes of objects, and chunks of uploads. */
export const blobRoutes: FastifyPluginAsync<Dependencies> = async (
  app,
  { store, trash, blobs, capabilities, site, config: { isAnonymousReadAllowed } },
) => {
  const refused = () => forbidden('this link is invalid or has expired', { code: 'bad_signature' })

  app.route<{ Params: { key: string } }>({
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    url: '/blobs/:key',
    config: { isOpen: true, rateLimitClass: 'chunk' },
    schema: { hide: true },
    async handler(request, reply) {
      const query = store.verify('GET', request.raw.url ?? '')
      if (!query) throw refused()
      const { key } = request.params
      if (await isDeleted(key)) throw bytesGone()
      const offset = Number(query.get('offset') ?? 0)
      const size = query.has('size') ? Number(query.get('size')) : await store.getSize(key)
      const part = query.get('partNumber')
      const disposition = query.get('response-content-disposition')
      if (disposition) reply.header('content-disposition', disposition)
      reply.header('cache-control', keptForAnHour)
      return sendBytes(request, reply, {
        sizeBytes: size,
        etag: `"${key}${part ? `-${part}` : ''}"`,
        open: (range, signal) => store.open(key, range, signal),
        offset,
        budget: store.budget,
      })
    },
  })

  app.route<{ Params: { token: string; filename: string } }>({
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    url: '/blobs/:token/:filename',
    config: { isOpen: true, rateLimitClass: 'chunk' },
    schema: { hide: true },
    async handler(request, reply) {
      const { token, filename } = request.params
      const file = await capabilities.findByBytesToken(token)
      if (!file) return renew(reply, token)
      if (file.filename !== filename) throw refused()
      const { objectKey, hashes } = await blobs.get(file.blob_hash ?? '')
      const isForAll = file.is_public === 1 && isAnonymousReadAllowed
      if (isForAll && store.ownOrigin !== undefined) {
        return redirect(reply, store.presignRead(objectKey, { filename, expiresInSeconds }))
      }
      reply.header('content-disposition', attachment(file.filename))
      reply.header('cache-control', isForAll ? keptForAnHour : 'private, no-store')
      return sendBytes(request, reply, {
        sizeBytes: hashes.fileSizeBytes,
        etag: `"${hashes.sha256_hash}"`,
        open: (range, signal) => store.open(objectKey, range, signal),
        budget: store.budget,
      })
    },
  })

  /**
   * Whether the object is in the trash. Returns false if the database is unavailable, so that downloads still work:
   * only the URL's signature is checked in this case.
   */
  async function isDeleted(key: string): Promise<boolean> {
    try {
      return await trash.has(key)
    } catch (error) {
      if (isUnavailable(error)) return false
      throw error
    }
  }

  /**
   * Redirects to a URL with a new token if everyone may read the file. Torrent clients keep using a redirect's target
   * while they run, even after its token has expired. The new token gives no access beyond that of the chunk route.
   */
  async function renew(reply: FastifyReply, token: string) {
    const file = await capabilities.findByBytesToken(token, beforeAnyExpiry)
    if (file?.is_public !== 1 || !isAnonymousReadAllowed) throw refused()
    return redirect(reply, site.baseUrl() + capabilities.bytesPath(file))
  }

  app.register(async (uploads) => {
    // The body is a chunk, which is passed to the store unparsed, whatever its Content-Type is.
    uploads.removeAllContentTypeParsers()
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(null))

    if (store.writeChunk) receiveChunks(uploads, store.writeChunk)

    // Altered links may have no key, or a key that no other route matches.
    for (const url of ['/blobs', '/blobs/*']) {
      uploads.route({
        method: ['GET', 'HEAD', 'PUT'],
        exposeHeadRoute: false,
        url,
        config: { isOpen: true, rateLimitClass: 'chunk' },
        schema: { hide: true },
        async handler() {
          throw refused()
        },
      })
    }
  })

  function receiveChunks(uploads: FastifyInstance, writeChunk: ChunkWriter) {
    uploads.route<{ Params: { key: string } }>({
      method: 'PUT',
      url: '/blobs/:key',
      config: { isOpen: true, rateLimitClass: 'chunk' },
      schema: { hide: true },
      async handler(request, reply) {
        const query = store.verify('PUT', request.raw.url ?? '')
        if (!query) throw refused()
        const chunk = {
          index: Number(query.get('partNumber')) - 1,
          hash: query.get('sha256') ?? '',
          start: Number(query.get('offset')),
          size: Number(query.get('size')),
        }
        const announced = request.headers['content-length']
        if (announced !== undefined && Number(announced) !== chunk.size) {
          throw chunkMismatch(chunk, `has ${announced} bytes, not ${chunk.size}`)
        }
        const body = request.raw.iterator({ destroyOnReturn: false })
        try {
          await writeChunk(request.params.key, chunk, body)
        } catch (error) {
          // It is too late to free space for this request, but there may be enough space when the client retries.
          if (hasCode(error, 'storage_full')) await trash.removeOldest(error.details.missingBytes)
          throw error
        } finally {
          request.raw.resume() // drain the rest of a refused chunk, so that the client receives the response
        }
        return reply.code(200).header('etag', `"${chunk.hash}"`).send()
      },
    })
  }
}
