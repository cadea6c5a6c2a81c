import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, formatPath, routes } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { toViewer } from '../../accounts/caller.ts'
import { callerActor } from '../../accounts/request-actor.ts'
import { note } from '../../audit/audit-log.ts'
import { conflict } from '../../errors.ts'
import type { ModelRepository } from '../../models/model-repository.ts'
import { ownModel } from '../../models/own-model.ts'
import { deleteFile } from '../garbage/delete-file.ts'
import type { FileProcessor } from '../processing/file-processor.ts'
import { isDeclared } from '../rows/declare-hashes.ts'
import { hasEndedBadly } from '../rows/file-states.ts'
import { seesUnready } from '../rows/find-file.ts'
import { declareChunks, reserveUpload } from './reserve-upload.ts'
import {
  countMissingChunks,
  listMissingChunks,
  type Started,
  startUpload,
  type UploadDependencies,
} from './start-upload.ts'

type Dependencies = UploadDependencies & {
  models: ModelRepository
  processor: FileProcessor
}

export const fileRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  const { models, files, store, processor } = dependencies

  app.route({
    ...endpoints.listFiles,
    config: { showsSeeders: true, isCompressible: true },
    async handler({ params, query, caller }) {
      const model = await models.getRow(params.id, toViewer(caller, 'read'))
      const seesAll = query.status === 'all' && seesUnready(caller, model)
      const rows = await files.list(model.id, seesAll ? 'all' : 'ready')
      return files.toModelFiles(rows, model.is_public === 1)
    },
  })

  app.route({
    ...endpoints.startUpload,
    async handler({ params, body, caller }, reply) {
      const model = await ownModel(models, params.id, caller)
      const started = await startUpload(dependencies, model, toViewer(caller, 'read'), body)
      return sendStarted(reply, model.name, started)
    },
  })

  app.route({
    ...endpoints.reserveUpload,
    async handler({ params, body, caller }, reply) {
      const model = await ownModel(models, params.id, caller)
      return sendStarted(reply, model.name, await reserveUpload(dependencies, model, body))
    },
  })

  app.route({
    ...endpoints.declareChunks,
    config: { rateLimitClass: 'chunk' },
    async handler({ params, body, caller }) {
      const model = await ownModel(models, params.id, caller)
      const file = await files.get(model.id, params.file_id, true)
      return declareChunks(dependencies, file, body.chunk_hashes)
    },
  })

  app.route({
    ...endpoints.getFile,
    config: { showsSeeders: true, isCompressible: true },
    async handler({ params, caller }) {
      const model = await models.getRow(params.id, toViewer(caller, 'read'))
      const file = await files.get(model.id, params.file_id, seesUnready(caller, model))
      return files.getRecord(file, model.is_public === 1)
    },
  })

  app.route({
    ...endpoints.getUpload,
    async handler({ params, query, caller }) {
      const model = await ownModel(models, params.id, caller)
      const file = await files.get(model.id, params.file_id, true)
      return listMissingChunks(dependencies, file, query)
    },
  })

  app.route({
    ...endpoints.completeUpload,
    async handler({ params, caller }, reply) {
      const model = await ownModel(models, params.id, caller)
      const file = await files.get(model.id, params.file_id, true)
      if (file.status === 'uploading') {
        if (!isDeclared(file)) {
          throw conflict(
            'the hashes of this file have not been declared: send its manifest first',
            {
              code: 'hashes_missing',
            },
          )
        }
        const missing_count = await countMissingChunks(store, file)
        if (missing_count > 0) {
          throw conflict(`missing chunks: ${missing_count}; send them and try again`, {
            code: 'chunks_missing',
            missing_count,
          })
        }
        await files.submit(file.id)
        processor.wake()
      } else if (hasEndedBadly(file.status)) {
        throw conflict(`this upload has ${file.status}: start it again`)
      }
      const now = await files.get(model.id, file.id, true)
      return reply.code(202).send(await files.toModelFile(now, model.is_public === 1))
    },
  })

  app.route({
    ...endpoints.deleteFile,
    async handler(request, reply) {
      const { params, caller } = request
      const model = await ownModel(models, params.id, caller)
      const file = await files.get(model.id, params.file_id, true)
      const actor = callerActor(request, request.signedIn())
      const subject = { kind: 'file' as const, name: `${model.name}/${file.filename}` }
      const { sha256_hash, status } = file
      await deleteFile(
        dependencies,
        file,
        note(actor, 'file.deleted', subject, { sha256_hash, status }),
      )
      return reply.code(204).send(null)
    },
  })
}

function sendStarted(reply: FastifyReply, modelName: string, { isNew, file, upload }: Started) {
  const location = formatPath(routes.getFile.url, { id: modelName, file_id: file.id })
  if (isNew) reply.header('location', location)
  return reply.code(isNew ? 201 : 200).send({ ...file, upload })
}
