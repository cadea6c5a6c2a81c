/** Calls that create, change and delete models, and delete files. */
import type { CardDraft, ModelChanges, ModelRecord, NewModel } from '../model.ts'
import * as routes from '../routes/edits.ts'
import { to } from './call.ts'
import { type Connection, parseJson } from './connection.ts'

export function editCalls({ exchange, json, text, nothing }: Connection) {
  return {
    /**
     * Renders a draft of a model card to the HTML that `getCard` would return. Nothing is saved.
     * @example
     * const html = await client.renderCard({ readme: '# Tide', names: ['tide'] })
     */
    renderCard: (draft: CardDraft, signal?: AbortSignal) =>
      text(to(routes.renderCard), { body: draft, accept: 'text/html', signal }),
    /**
     * Creates a model without files, owned by the caller.
     * @example
     * await client.createModel({ name: 'tide-chat', license: 'apache-2.0', is_public: false })
     */
    createModel: (model: NewModel) => json(to(routes.createModel), { body: model }),
    /**
     * Changes the given fields of a model, and returns the model; undefined if the client's API key may not read it.
     * @example
     * await client.updateModel('tide', { description: 'Knows the tides', tags: ['chat'] })
     */
    async updateModel(model: string, changes: ModelChanges): Promise<ModelRecord | undefined> {
      const answer = await exchange(to(routes.updateModel, { id: model }), { body: changes })
      return answer.status === 204 ? undefined : parseJson(answer)
    },
    /**
     * Deletes a model and its files. With `only_if_empty`, rejects with status 409 if the model has a file or an open
     * upload.
     * @example
     * await client.deleteModel('empty', { only_if_empty: true })
     */
    deleteModel: (model: string, query: { only_if_empty?: boolean } = {}, signal?: AbortSignal) =>
      nothing(to(routes.deleteModel, { id: model }), { query, signal }),
    /**
     * Deletes a file, or cancels its upload.
     * @example
     * const [file] = await client.listFiles('old-tide')
     * if (file) await client.deleteFile('old-tide', file.id)
     */
    deleteFile: (model: string, file: string, signal?: AbortSignal) =>
      nothing(to(routes.deleteFile, { id: model, file_id: file }), { signal }),
  }
}
