import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import { notFound } from '../../errors.ts'
import type { ModelRepository } from '../../models/model-repository.ts'
import { attachment } from '../../store/disk-store.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { findFile } from '../rows/find-file.ts'
import type { CapableFile } from './capability.ts'
import { makeTorrent, type TorrentDependencies } from './make-torrent.ts'

type Dependencies = TorrentDependencies & { models: ModelRepository; files: FileRepository }

export const torrentRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  async function createTorrentResponse(file: CapableFile) {
    const headers = {
      'content-type': 'application/x-bittorrent',
      'content-disposition': attachment(`${file.filename}.torrent`),
    }
    return { headers, torrent: await makeTorrent(dependencies, file) }
  }

  app.route({
    ...endpoints.getTorrent,
    async handler(request, reply) {
      const { model, file } = await findFile(dependencies, request)
      if (file.status !== 'ready') throw notFound(`${file.filename} has no torrent yet`)
      const { headers, torrent } = await createTorrentResponse({ ...model, ...file })
      return reply.headers(headers).send(torrent)
    },
  })

  app.route({
    ...endpoints.getTorrentByToken,
    config: { isOpen: true },
    async handler({ params }, reply) {
      const file = await dependencies.capabilities.getByAccessToken(params.token)
      if (file.id !== params.file_id) throw notFound('this link is for another file')
      const { headers, torrent } = await createTorrentResponse(file)
      return reply.headers(headers).send(torrent)
    },
  })
}
