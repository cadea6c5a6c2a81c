import type { LlamaModel, Token } from 'node-llama-cpp'
import { answerParser } from '../chat/answer-parser.ts'
import type { AnswerFormat } from '../chat/formats/answer-format.ts'
import { type Generation, isForced, type Piece } from '../runtime.ts'
import { lineLimits } from './line-limits.ts'
import { createLogprobs, logprobsInStep } from './logprobs.ts'
import { stopStrings } from './stop-strings.ts'
import { tokenText } from './token-text.ts'

type Setup = {
  model: LlamaModel
  format: AnswerFormat
  /** The tokens of the format's markers. The library converts them to text only if special tokens are requested. */
  markers: ReadonlySet<Token>
  /** The beginning of the answer, which is in the prompt. */
  begun: string
}

/**
 * Converts tokens one by one to parts of an answer: text (up to a stop string), reasoning, tool calls, and log
 * probabilities if they are requested.
 */
export function answerWriter(
  { prompt, stop, lines, form, topLogprobs }: Generation,
  { model, format, markers, begun }: Setup,
) {
  const chat = 'chat' in prompt ? prompt.chat : undefined
  const isMarker = (token: number) => markers.has(token as Token)
  const text = tokenText((some, before) =>
    model.detokenize(some as Token[], chat !== undefined && some.some(isMarker), before as Token[]),
  )
  // A forced call is the entire answer and must be complete, so stop strings are ignored.
  const stops = stopStrings(chat && isForced(chat) ? [] : stop)
  const limits = lineLimits(lines)
  const parser = answerParser(chat && format, {
    tools: chat && chat.toolChoice !== 'none' ? chat.tools : [],
    maxCalls: chat?.maxCalls,
    isForced: chat !== undefined && isForced(chat),
    isBound: chat !== undefined && !isForced(chat) && form !== undefined,
  })
  const inStep = logprobsInStep()
  let tokenCount = 0
  let reasoningTokens = 0

  function withLogprobs(pieces: Piece[], given: string): Piece[] {
    const logprobs = inStep.give(given)
    if (logprobs.length === 0) return pieces
    const [first, ...others] = pieces
    return [{ ...first, logprobs }, ...others]
  }

  return {
    tokenCount: () => tokenCount,
    reasoningTokens: () => reasoningTokens,
    callPlace: parser.callPlace,
    isThinking: parser.isThinking,
    hasCalls: () => parser.callCount() > 0,
    /** The stop string that ended the answer, if one did. */
    stopString: () => stops.found(),
    /** Whether a limit on the lines of the answer has cut it off. */
    isCut: limits.isOver,
    /** Whether a stop string, a limit on the lines or the maximum number of calls has been reached. */
    isOver: () => stops.isStopped() || limits.isOver() || parser.hasEnough(),

    /**
     * Parses the beginning of the answer. Returns no parts if a message is continued, because the client already has
     * its text.
     */
    begin(): Piece[] {
      const pieces = parser.take(begun)
      return chat?.isContinued ? [] : pieces
    },

    take(token: Token, probabilities: Map<Token, number> | undefined): Piece[] {
      tokenCount += 1
      const words = text.take(token)
      const given = limits.take(stops.take(words))
      const pieces = parser.take(given)
      if (parser.isThinking()) reasoningTokens += 1
      if (topLogprobs === undefined || !probabilities) return pieces
      inStep.take(words, createLogprobs(model, token, probabilities, topLogprobs))
      return withLogprobs(pieces, given)
    },

    /** Adds text that the model has not generated. `tokens` is the number of tokens in `words`. */
    append(words: string, tokens: number): Piece[] {
      tokenCount += tokens
      return parser.take(stops.take(text.finish() + words))
    },

    /** Call this at the end of the answer. Returns the parts that have been held back. */
    finish(): Piece[] {
      const last = stops.take(text.finish()) + (stops.isStopped() ? '' : stops.finish())
      const rest = limits.isOver() ? '' : limits.take(last) + limits.finish()
      return withLogprobs([...parser.take(rest), ...parser.finish()], rest)
    },
  }
}

export type AnswerWriter = ReturnType<typeof answerWriter>
