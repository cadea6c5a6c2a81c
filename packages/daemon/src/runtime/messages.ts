/** What passes between the daemon and the process of a model. */
import type {
  Embeddings,
  Finish,
  Generation,
  ModelFacts,
  Piece,
  PromptCode,
  RuntimeOptions,
} from './runtime.ts'

export type ToChild =
  | { call: 'load'; options: RuntimeOptions }
  | { call: 'generate'; id: number; generation: Generation }
  | { call: 'embed'; id: number; texts: (string | number[])[] }
  | { call: 'abort'; id: number }

export type FromChild =
  | { event: 'loaded'; facts: ModelFacts }
  | { event: 'not-loaded'; message: string }
  | { event: 'piece'; id: number; piece: Piece }
  | { event: 'finish'; id: number; finish: Finish }
  | { event: 'embedded'; id: number; embeddings: Embeddings }
  | {
      event: 'refused'
      id: number
      code: PromptCode
      message: string
      param: string | undefined
    }
  | { event: 'failed'; id: number; message: string }
