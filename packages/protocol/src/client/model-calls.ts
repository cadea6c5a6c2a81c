/** Calls that read and like models, and read users' public profiles. */
import type { Model, ModelQuery } from '../model.ts'
import * as routes from '../routes/models.ts'
import { type AnswerOf, to } from './call.ts'
import { type Connection, parseJson } from './connection.ts'

export type ModelFilter = Partial<ModelQuery>
export type ModelPage = { models: Model[]; total: number; isTotalExact: boolean }

export function modelCalls({ exchange, json, text, nothing }: Connection) {
  return {
    /**
     * Returns one page of the matching models, and the total number of matches.
     * @example
     * const { models, total } = await client.listModels({ q: 'tide', sort: 'downloads', limit: 20 })
     */
    async listModels(filter: ModelFilter = {}, signal?: AbortSignal): Promise<ModelPage> {
      const answer = await exchange(to(routes.listModels), { query: filter, signal })
      const models = parseJson<AnswerOf<typeof routes.listModels>>(answer)
      return {
        models,
        total: Number(answer.headers.get('x-total-count') ?? models.length),
        isTotalExact: answer.headers.get('x-total-count-exact') !== 'false',
      }
    },
    /**
     * Returns a model with its model card.
     * @example
     * const { description, likes } = await client.getModel('tide')
     */
    getModel: (model: string, signal?: AbortSignal) =>
      json(to(routes.getModel, { id: model }), { signal }),
    /**
     * Returns the model card as safe HTML. With `images`, the reader's browser loads images from their original URLs.
     * @example
     * const html = await client.getCard('tide', { images: true })
     */
    getCard(model: string, { images = false }: { images?: boolean } = {}, signal?: AbortSignal) {
      const query = images ? ({ images: '1' } as const) : {}
      return text(to(routes.getCard, { id: model }), { query, accept: 'text/html', signal })
    },
    /**
     * Counts the matching models by architecture, license, tag and quantization.
     * @example
     * const { quantizations } = await client.getFacets({ architecture: 'llama' })
     */
    getFacets: (filter: ModelFilter = {}, signal?: AbortSignal) =>
      json(to(routes.getFacets), { query: filter, signal }),
    /**
     * Returns totals for public models: the numbers of models, files, bytes and downloads, and the parameter counts of
     * the most downloaded models.
     * @example
     * const { models, downloads } = await client.getStats()
     */
    getStats: () => json(to(routes.getStats)),
    /**
     * Returns the releases of shoal that the registry offers for installation.
     * @example
     * const { releases } = await client.getReleases()
     */
    getReleases: () => json(to(routes.getReleases)),
    /**
     * Returns the public profile of an account.
     * @example
     * const { models_count } = await client.getUser('ana')
     */
    getUser: (username: string) => json(to(routes.getUser, { username })),
    /**
     * Adds or removes the caller's like.
     * @example
     * await client.setLike('tide', true)
     */
    setLike: (model: string, liked: boolean) =>
      nothing(to(routes.setLike, { id: model }), { body: { liked } }),
  }
}
