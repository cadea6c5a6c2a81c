/**
 * Ranks documents by their relevance to a query. The paths are those of llama.cpp's server, Jina, Cohere, vLLM and Text
 * Embeddings Inference (TEI).
 */
import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RerankRequest, ScoreRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { clientGone } from '../http/client-gone.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { getOnlyModel } from '../models/only-model.ts'
import type { Ranking } from '../runtime/runtime.ts'

const rerankPaths = ['/rerank', '/reranking', '/v1/rerank', '/v1/reranking', '/v2/rerank']
const scorePaths = ['/score', '/v1/score']

type Pair = [query: string, document: string]
type Wanted = Pick<ScoreRequest, 'model' | 'truncate' | 'raw_scores' | 'use_activation'>

export const rankRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  async function rank(pairs: Pair[], request: Wanted, signal: AbortSignal) {
    refuseFields(request, unsupportedFields.rerank)
    const model = request.model || getOnlyModel(models)
    using use = await models.use(model, { signal })
    const ranking = await use.runtime.rank(pairs, signal, {
      truncates: request.truncate ?? false,
      isRaw: request.raw_scores ?? request.use_activation === false,
    })
    return { model, ranking }
  }

  for (const path of rerankPaths) {
    app.post(path, { schema: { body: RerankRequest } }, async ({ body }, reply) => {
      const texts = (body.documents ?? body.texts ?? []).map(toText)
      if (texts.length === 0) throw new Fault(422, 'documents is required', { param: 'documents' })
      const pairs = texts.map((text): Pair => [body.query, text])
      const { model, ranking } = await rank(pairs, body, clientGone(reply))
      const best = ranking.scores
        .map((score, index) => ({ index, score, text: texts[index] }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, body.top_n ?? texts.length)
      if (!body.documents) {
        return best.map(({ text, ...one }) => ({ ...one, ...(body.return_text && { text }) }))
      }
      const results = best.map(({ index, score, text }) => ({
        index,
        relevance_score: score,
        ...(body.return_documents && { document: { text } }),
      }))
      return { ...makeHead('rerank', model), object: 'list', results, ...toUsage(ranking) }
    })
  }

  for (const path of scorePaths) {
    app.post(path, { schema: { body: ScoreRequest } }, async ({ body }, reply) => {
      const pairs = toPairs(body.queries ?? body.text_1, body.documents ?? body.text_2)
      const { model, ranking } = await rank(pairs, body, clientGone(reply))
      const data = ranking.scores.map((score, index) => ({ index, object: 'score', score }))
      const created = Math.floor(Date.now() / 1000)
      return { ...makeHead('score', model), object: 'list', created, data, ...toUsage(ranking) }
    })
  }
}

const toText = (document: string | { text: string }) =>
  typeof document === 'string' ? document : document.text

/** Combines one query with each document, or each query with the document at the same place, as vLLM does. */
function toPairs(
  queries: string | string[] | null | undefined,
  documents: string | string[] | null | undefined,
): Pair[] {
  if (!queries || !documents) {
    throw new Fault(422, 'queries and documents are required', { param: 'queries' })
  }
  const [all, texts] = [[queries].flat(), [documents].flat()]
  if (all.length !== 1 && all.length !== texts.length) {
    const message = `there are ${all.length} queries and ${texts.length} documents: use one query, or as many as documents`
    throw new Fault(400, message, { param: 'queries' })
  }
  return texts.map((text, index) => [all[all.length === 1 ? 0 : index] ?? '', text])
}

const makeHead = (prefix: string, model: string) => ({ id: `${prefix}-${randomUUID()}`, model })

/** `truncated` contains the indices of the documents that were shortened, if there are any. */
const toUsage = ({ promptTokens, truncated }: Ranking) => ({
  usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  ...(truncated.length > 0 && { truncated }),
})
