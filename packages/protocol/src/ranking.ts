/**
 * Requests to the local daemon to rank documents by their relevance to a query: in the format that Jina, Cohere,
 * llama.cpp's server and vLLM have in common, in that of Hugging Face's Text Embeddings Inference, which has `texts`
 * instead of `documents`, and in vLLM's format for scores. If `model` is absent, the only loaded model is used.
 */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'

/** Jina and Cohere accept more documents than most requests have; each is read separately. */
const maxDocuments = 2048

const Document = Type.Unsafe<string | { text: string }>({
  type: ['string', 'object'],
  properties: { text: { type: 'string' } },
  required: ['text'],
})
const Documents = Type.Array(Document, { minItems: 1, maxItems: maxDocuments })

const scoreFields = {
  model: optional(Type.String()),
  /** Whether a document that is too long is shortened instead of refused. The default is false. */
  truncate: optional(Type.Boolean()),
  /** Whether scores are the model's own output instead of numbers from 0 to 1. The default is false. */
  raw_scores: optional(Type.Boolean()),
  /** vLLM's opposite of `raw_scores`. */
  use_activation: optional(Type.Boolean()),
}

export const RerankRequest = Type.Object({
  ...scoreFields,
  query: Type.String(),
  documents: optional(Documents),
  texts: optional(Documents),
  /** The maximum number of results. The default is all documents. */
  top_n: optional(Type.Integer({ minimum: 1 })),
  /** Whether each result contains its document, as `document` or, with `texts`, as `text`. The default is false. */
  return_documents: optional(Type.Boolean()),
  return_text: optional(Type.Boolean()),
})
export type RerankRequest = Static<typeof RerankRequest>

const OneOrMoreTexts = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  items: { type: 'string' },
  minItems: 1,
  maxItems: maxDocuments,
})

/** One query for all documents, or a query for each document. `text_1` and `text_2` are vLLM's earlier names. */
export const ScoreRequest = Type.Object({
  ...scoreFields,
  queries: optional(OneOrMoreTexts),
  documents: optional(OneOrMoreTexts),
  text_1: optional(OneOrMoreTexts),
  text_2: optional(OneOrMoreTexts),
})
export type ScoreRequest = Static<typeof ScoreRequest>
