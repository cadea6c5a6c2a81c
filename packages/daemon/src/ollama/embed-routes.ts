import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaEmbeddingsRequest, OllamaEmbedRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { clientGone } from '../http/client-gone.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { shortened } from '../runtime/vectors.ts'
import { nanoseconds } from './answer.ts'
import { readOptions } from './generation.ts'

export const embedRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/api/embed', { schema: { body: OllamaEmbedRequest } }, async ({ body }, reply) => {
    const startedAt = performance.now()
    const texts = [body.input || []].flat() // without input, the model is only loaded
    if (texts.includes('')) {
      throw new Fault(400, 'input contains an empty string', { param: 'input' })
    }
    const signal = clientGone(reply)
    using use = await models.use(body.model, readOptions(body, signal))
    const loadMs = performance.now() - startedAt
    const options = { truncates: body.truncate ?? true }
    const { vectors, promptTokens, truncated } = await use.runtime.embed(texts, signal, options)
    return {
      model: body.model,
      embeddings: vectors.map((vector) =>
        Array.from(shortened(vector, body.dimensions || vector.length)),
      ),
      total_duration: nanoseconds(performance.now() - startedAt),
      load_duration: nanoseconds(loadMs),
      prompt_eval_count: promptTokens,
      ...(truncated.length > 0 && { truncated }), // the indices of the texts that were shortened; not part of Ollama's API
    }
  })

  const schema = { body: OllamaEmbeddingsRequest }
  app.post('/api/embeddings', { schema }, async ({ body }, reply) => {
    const signal = clientGone(reply)
    using use = await models.use(body.model, readOptions(body, signal))
    const { vectors } = await use.runtime.embed(body.prompt ? [body.prompt] : [], signal)
    return { embedding: Array.from(vectors[0] ?? []) }
  })
}
