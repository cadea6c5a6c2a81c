import type { Piece, Tool } from '../runtime.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import type { CallPlace } from './formats/call-reader.ts'
import { Input, type Parsing } from './formats/input.ts'
import { markers } from './formats/markers.ts'
import { readAnswer } from './read-answer.ts'
import { readMessages } from './read-messages.ts'

type Options = {
  /** The tools that may be called. A call to any other tool is not parsed as a call. */
  tools: readonly Tool[]
  maxCalls?: number | undefined
  /** Whether reasoning and its markers are left in the text. */
  keepsReasoning?: boolean
  /** Whether the answer must be a call. If so, text outside the call is dropped. */
  isForced?: boolean
  /** Whether the answer must be JSON or calls. If so, markers within the JSON are part of it. */
  isBound?: boolean
}

/** Parses one answer. */
export interface AnswerParser {
  /** Parses more text. Returns the parts of the answer that this text completes, if any. */
  take(text: string): Piece[]
  /** Returns the remaining parts at the end of the answer. */
  finish(): Piece[]
  /** Returns the number of tool calls so far. */
  callCount(): number
  /** Whether the answer contains the maximum number of complete tool calls, so that the model can be stopped. */
  hasEnough(): boolean
  /** Whether the current part is reasoning. */
  isThinking(): boolean
  /** The parser's current position relative to calls that are enclosed in markers. */
  callPlace(): CallPlace
}

/**
 * Splits a model's output into text, reasoning and tool calls, as the output arrives. If the prompt contains the
 * beginning of the answer, pass that to `take` first. If there is no format, all output is text.
 */
export function answerParser(format: AnswerFormat | undefined, options: Options): AnswerParser {
  const { tools, maxCalls = Number.POSITIVE_INFINITY, keepsReasoning = false } = options
  const input = new Input()
  let begunCalls = 0
  let endedCalls = 0
  let isThinking = false
  let callPlace: CallPlace = 'elsewhere'
  const answer = format && {
    format,
    keepsReasoning,
    isBound: options.isBound ?? false,
    reader: {
      input,
      tools: new Map(tools.map(({ function: tool }) => [tool.name, tool])),
      isMarked: true,
      onPlace: (place: CallPlace) => {
        callPlace = place
      },
      onCallEnd: () => {
        endedCalls += 1
      },
    },
    setThinking: (thinks: boolean) => {
      isThinking = thinks
    },
  }
  const parsing = !answer
    ? readPlain(input)
    : answer.format.hasMessages
      ? readMessages(answer)
      : readAnswer(answer)

  function advance(): Piece[] {
    const pieces: Piece[] = []
    for (;;) {
      const { value, done } = parsing.next()
      if (done || value === undefined) return pieces
      if (isWanted(value)) addPiece(pieces, value)
    }
  }

  function isWanted({ toolCall, argumentsDelta, reasoning }: Piece): boolean {
    if (toolCall) begunCalls += 1
    const isCall = toolCall !== undefined || argumentsDelta !== undefined
    return isCall ? begunCalls <= maxCalls : !options.isForced || reasoning !== undefined
  }

  return {
    callCount: () => Math.min(begunCalls, maxCalls),
    hasEnough: () => endedCalls >= maxCalls,
    isThinking: () => isThinking,
    callPlace: () => callPlace,
    take(text) {
      input.add(text)
      return advance()
    },
    finish() {
      input.end()
      return advance()
    },
  }
}

/** Adds a piece to the list or, if it continues the last piece, merges the two. */
function addPiece(pieces: Piece[], piece: Piece) {
  const last = pieces.at(-1)
  if (last?.text !== undefined && piece.text !== undefined) last.text += piece.text
  else if (last?.reasoning !== undefined && piece.reasoning !== undefined) {
    last.reasoning += piece.reasoning
  } else if (last?.toolCall && piece.argumentsDelta !== undefined) {
    last.toolCall = { ...last.toolCall, arguments: last.toolCall.arguments + piece.argumentsDelta }
  } else if (last?.argumentsDelta !== undefined && piece.argumentsDelta !== undefined) {
    last.argumentsDelta += piece.argumentsDelta
  } else pieces.push({ ...piece })
}

function* readPlain(input: Input): Parsing {
  yield* input.until(markers(), (text) => ({ text }))
}
