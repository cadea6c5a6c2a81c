/** Uploads of model files, from which `/api/create` creates models. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { Fault } from '../errors.ts'
import type { Uploads } from '../models/uploads.ts'
import { readDigest } from './digest.ts'

const schema = { params: Type.Object({ digest: Type.String() }) }

export const blobRoutes: FastifyPluginAsyncTypebox<{ uploads: Uploads }> = async (
  app,
  { uploads },
) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null)) // the handler reads the body

  const hashIn = ({ digest }: { digest: string }) => {
    const sha256 = readDigest(digest)
    if (sha256 !== undefined) return sha256
    throw new Fault(400, 'the digest must be sha256: and 64 hexadecimal digits')
  }

  app.head('/api/blobs/:digest', { schema }, async ({ params }, reply) =>
    reply.code((await uploads.has(hashIn(params))) ? 200 : 404).send(),
  )

  app.post('/api/blobs/:digest', { schema }, async ({ params, raw }, reply) => {
    await uploads.receive(hashIn(params), raw)
    return reply.code(201).send()
  })
}
