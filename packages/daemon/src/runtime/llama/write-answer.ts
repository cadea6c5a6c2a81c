import type { JsonCloser } from '@shoal/grammar'
import type { Token } from 'node-llama-cpp'
import type { Piece } from '../runtime.ts'
import type { AnswerWriter } from './answer-writer.ts'
import type { TokenText } from './token-text.ts'

type Options = {
  writer: AnswerWriter
  maxTokens: number
  /** Whether the answer must be a call. */
  isCall: boolean
  /** Closes the answer's JSON, if the entire answer must be JSON. `text` converts tokens for it. */
  json: { closer: JsonCloser; text: TokenText } | undefined
  /** Generates the next token; undefined if the model has ended its answer. */
  next: () => Promise<{ token: Token; probabilities: Map<Token, number> | undefined } | undefined>
}

/** Yields the parts of an answer. Returns whether the maximum number of tokens has cut it off. */
export async function* writeAnswer({
  writer,
  maxTokens,
  isCall,
  json,
  next,
}: Options): AsyncGenerator<Piece, boolean> {
  let isCut = false
  let pieces = writer.begin()
  while (!writer.isOver()) {
    const tokensLeft = maxTokens - writer.tokenCount()
    if (tokensLeft === 0) {
      isCut = writer.isThinking() || !(isCall && json?.closer.closing().text === '')
      break
    }
    // The next token is computed while the pieces of the previous one are sent.
    const nextStep = next()
    nextStep.catch(() => undefined) // rejects below, unless the client has disconnected
    yield* pieces
    pieces = []
    const step = await nextStep
    if (!step) break
    const added = json?.text.take(step.token) ?? ''
    if (writer.isThinking()) json?.closer.skip(added)
    else if (json && !json.closer.allows(added, tokensLeft - 1)) {
      const { text, tokens } = json.closer.closing()
      pieces = writer.append(text, tokens)
      isCut = !isCall // a call that was closed early is complete, but other text is not
      break
    }
    pieces = writer.take(step.token, step.probabilities)
  }
  yield* pieces
  yield* writer.finish()
  return isCut
}
