import type { Piece } from '../runtime.ts'
import type { AnswerFormat, ParsedCall } from './answer-format.ts'
import { harmonyParser } from './harmony-parser.ts'
import { partialLength } from './markers.ts'

export type AnswerState = 'start' | 'reasoning' | 'text' | 'call'

type Options = {
  /** Where the prompt ends. */
  beginsIn: AnswerState
  /** Of the tools that may be called; what calls another is text. */
  toolNames: readonly string[]
  maxCalls?: number | undefined
}

/** Reads one answer. */
export interface AnswerParser {
  /** The pieces that more text makes certain; it may be none. */
  take(text: string): Piece[]
  /** The rest, when nothing more comes. */
  finish(): Piece[]
  /** Calls of tools so far. */
  callCount(): number
  /** Whether as many tools are called as may be: the model can be stopped. */
  hasEnough(): boolean
  /** Whether what comes now is reasoning. */
  isThinking(): boolean
}

/** Splits what a model writes into text, reasoning and calls, in the way of its format. */
export function answerParser(format: AnswerFormat, options: Options): AnswerParser {
  const { beginsIn, maxCalls } = options
  if (format.isHarmony && beginsIn === 'start') return harmonyParser(maxCalls)
  return markParser(format, options)
}

/**
 * Splits what a model writes into text, reasoning and calls, as it comes. Nothing is given on that could still turn out to be
 * the beginning of a marker. What looks like a call and cannot be read is text.
 */
function markParser(
  { reasoning, calls }: AnswerFormat,
  { beginsIn, toolNames, maxCalls = Number.POSITIVE_INFINITY }: Options,
) {
  const hasTools = toolNames.length > 0
  /** With these an answer begins that is a call as a whole. */
  const bareBeginnings = hasTools && calls.open === '' ? ['{', '[', ...calls.inner] : []
  let state = beginsIn
  let held = ''
  let callCount = 0
  /** White space between parts belongs to none of them. */
  let isAfterPart = beginsIn !== 'text'

  function take(text: string): Piece[] {
    held += text
    const pieces: Piece[] = []
    while (step(pieces));
    return pieces
  }

  /** True where there may be more to do. */
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

    /** What was held back, when nothing more comes. */
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

/** A call that was forced and cut off: its name, and its arguments as far as they came. */
function begunCall(json: string): ParsedCall | undefined {
  const [, name, args = ''] =
    /^\s*\{\s*"name"\s*:\s*"([^"]+)"(?:\s*,\s*"(?:arguments|parameters)"\s*:\s*([\s\S]*))?/.exec(
      json,
    ) ?? []
  return name === undefined ? undefined : { name, arguments: args }
}
