import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { EmbeddingRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { clientGone } from '../http/client-gone.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { shortened } from '../runtime/vectors.ts'
import { toTexts } from './generation.ts'

export const embeddingRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/embeddings', { schema: { body: EmbeddingRequest } }, async ({ body }, reply) => {
    const texts = toTexts(body.input)
    if (texts.includes(''))
      throw new Fault(400, 'input contains an empty string', { param: 'input' })
    const signal = clientGone(reply)
    using use = await models.use(body.model, { signal })
    const { vectors, promptTokens } = await use.runtime.embed(texts, signal)
    const write = body.encoding_format === 'base64' ? base64 : list
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: write(checked(vector, body)),
      })),
      model: body.model,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    }
  })
}

/** Encodes a vector as OpenAI's API does: little-endian 32-bit floats in base64. */
const base64 = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')

const list = (vector: Float32Array) => [...vector]

function checked(vector: Float32Array, { dimensions }: EmbeddingRequest): Float32Array {
  if (!dimensions || dimensions <= vector.length)
    return shortened(vector, dimensions || vector.length)
  const message = `dimensions is ${dimensions}, but this model's embeddings have only ${vector.length} dimensions`
  throw new Fault(400, message, { param: 'dimensions' })
}
