import type { Piece } from '../runtime.ts'
import type { AnswerFormat, ParsedCall } from './answer-format.ts'
import { harmonyParser } from './harmony-parser.ts'
import { partialLength } from './markers.ts'

export type AnswerState = 'start' | 'reasoning' | 'text' | 'call'

type Options = {
  /** The state at the end of the prompt, where the answer begins. */
  beginsIn: AnswerState
  /** Names of the tools that may be called. A call to any other tool is treated as text. */
  toolNames: readonly string[]
  maxCalls?: number | undefined
}

/** Parses one answer. */
export interface AnswerParser {
  /** Takes more text. Returns the parts that this text completes, if any. */
  take(text: string): Piece[]
  /** Returns the remaining parts at the end of the answer. */
  finish(): Piece[]
  /** Number of tool calls so far. */
  callCount(): number
  /** Whether the maximum number of tool calls has been reached, so that the model can be stopped. */
  hasEnough(): boolean
  /** Whether the current part is reasoning. */
  isThinking(): boolean
}

/** Splits a model's output into text, reasoning and tool calls, according to its format. */
export function answerParser(format: AnswerFormat, options: Options): AnswerParser {
  const { beginsIn, maxCalls } = options
  if (format.isHarmony && beginsIn === 'start') return harmonyParser(maxCalls)
  return markParser(format, options)
}

/**
 * Splits a model's output into text, reasoning and tool calls as it arrives. Text that could still become a marker is
 * held back. Text that looks like a call but cannot be parsed remains text.
 */
function markParser(
  { reasoning, calls }: AnswerFormat,
  { beginsIn, toolNames, maxCalls = Number.POSITIVE_INFINITY }: Options,
) {
  const hasTools = toolNames.length > 0
  /** An answer that begins with one of these strings consists only of a call. */
  const bareBeginnings = hasTools && calls.open === '' ? ['{', '[', ...calls.inner] : []
  let state = beginsIn
  let held = ''
  let callCount = 0
  /** Whether a part has just ended. White space between parts belongs to no part. */
  let isAfterPart = beginsIn !== 'text'

  function take(text: string): Piece[] {
    held += text
    const pieces: Piece[] = []
    while (step(pieces));
    return pieces
  }

  /** Returns true if another step may be possible. */
  function step(pieces: Piece[]): boolean {
    if (state === 'start') return start()
    if (state === 'reasoning') return think(pieces)
    return state === 'text' ? say(pieces) : call(pieces)
  }

  function start(): boolean {
    const begun = held.trimStart()
    if (begun === '') return false
    if (reasoning && begun.startsWith(reasoning.open)) {
      held = begun.slice(reasoning.open.length)
      state = 'reasoning'
    } else if (bareBeginnings.some((beginning) => begun.startsWith(beginning))) {
      state = 'call'
    } else if ([reasoning?.open ?? '', ...bareBeginnings].some((one) => one.startsWith(begun))) {
      return false
    } else state = 'text'
    return true
  }

  function think(pieces: Piece[]): boolean {
    const close = reasoning?.close ?? ''
    const place = held.indexOf(close)
    const end = place === -1 ? held.length - partialLength(held, [close]) : place
    const thought = isAfterPart ? held.slice(0, end).trimStart() : held.slice(0, end)
    if (thought !== '') {
      isAfterPart = false
      pieces.push({ reasoning: thought })
    }
    held = held.slice(end)
    if (place === -1) return false
    held = held.slice(close.length)
    isAfterPart = true
    state = bareBeginnings.length > 0 ? 'start' : 'text'
    return true
  }

  function say(pieces: Piece[]): boolean {
    const open = hasTools ? calls.open : ''
    const place = open === '' ? -1 : held.indexOf(open)
    const end = place === -1 ? held.length - partialLength(held, [open]) : place
    const words = isAfterPart ? held.slice(0, end).trimStart() : held.slice(0, end)
    const isSpace = words === '' || (place !== -1 && words.trim() === '')
    if (!isSpace) {
      isAfterPart = false
      pieces.push({ text: words })
    }
    held = held.slice(end)
    if (place === -1) return false
    held = held.slice(open.length)
    state = 'call'
    return true
  }

  function call(pieces: Piece[]): boolean {
    const { close } = calls
    const place = close === undefined ? -1 : held.indexOf(close)
    if (place === -1) return false
    give(held.slice(0, place), pieces)
    held = held.slice(place + (close?.length ?? 0))
    state = 'text'
    return true
  }

  function callsIn(body: string): ParsedCall[] | undefined {
    const parsed = calls.parse(body)
    return parsed?.every(({ name }) => toolNames.includes(name)) ? parsed : undefined
  }

  function give(body: string, pieces: Piece[]) {
    const parsed = callsIn(body)
    if (!parsed) {
      pieces.push({ text: calls.open + body + (calls.close ?? '') })
      return
    }
    isAfterPart = true
    for (const toolCall of parsed.slice(0, maxCalls - callCount)) {
      callCount += 1
      pieces.push({ toolCall })
    }
  }

  return {
    take,
    callCount: () => callCount,
    hasEnough: () => callCount >= maxCalls,
    isThinking: () => state === 'reasoning',

    /** Returns the remaining parts at the end of the answer, including text that was held back. */
    finish(): Piece[] {
      const pieces: Piece[] = []
      const rest = held
      held = ''
      if (state === 'call') {
        const begun = beginsIn === 'call' ? begunCall(rest) : undefined
        if (callsIn(rest)) give(rest, pieces)
        else if (begun) pieces.push({ toolCall: begun })
        else if (beginsIn !== 'call') pieces.push({ text: calls.open + rest })
      } else if (state === 'reasoning') {
        if (rest !== '') pieces.push({ reasoning: rest })
      } else if (rest !== '' && !(isAfterPart && rest.trim() === '')) pieces.push({ text: rest })
      return pieces
    },
  }
}

/** Returns the name of a forced call that was cut off, with the arguments so far. */
function begunCall(json: string): ParsedCall | undefined {
  const [, name, args = ''] =
    /^\s*\{\s*"name"\s*:\s*"([^"]+)"(?:\s*,\s*"(?:arguments|parameters)"\s*:\s*([\s\S]*))?/.exec(
      json,
    ) ?? []
  return name === undefined ? undefined : { name, arguments: args }
}
