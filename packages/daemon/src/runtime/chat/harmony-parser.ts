import type { Piece } from '../runtime.ts'
import { partialLength } from './markers.ts'

/** The markers in the answers of gpt-oss (https://cookbook.openai.com/articles/openai-harmony). */
export const harmonyMarks = {
  start: '<|start|>',
  channel: '<|channel|>',
  message: '<|message|>',
  constrain: '<|constrain|>',
  end: '<|end|>',
  call: '<|call|>',
}

const endings = [harmonyMarks.end, harmonyMarks.call, harmonyMarks.start]

type Message = { kind: 'text' | 'reasoning' } | { kind: 'call'; name: string }

/**
 * Splits an answer that consists of several messages with headers. `<|channel|>analysis<|message|>` is reasoning,
 * `commentary to=functions.name` is a tool call, and any other message is text for the user.
 */
export function harmonyParser(maxCalls = Number.POSITIVE_INFINITY) {
  let held = ''
  /** The current message; undefined within a header. */
  let message: Message | undefined
  let callCount = 0

  function take(text: string): Piece[] {
    held += text
    const pieces: Piece[] = []
    while (message === undefined ? readHead() : readBody(message, pieces));
    return pieces
  }

  function readHead(): boolean {
    const place = held.indexOf(harmonyMarks.message)
    if (place === -1) return false
    message = parseHead(held.slice(0, place))
    held = held.slice(place + harmonyMarks.message.length)
    return true
  }

  function readBody(current: Message, pieces: Piece[]): boolean {
    const places = endings.map((mark) => held.indexOf(mark)).filter((place) => place !== -1)
    const end = places.length > 0 ? Math.min(...places) : undefined
    if (current.kind === 'call' && end === undefined) return false
    const until = end ?? held.length - partialLength(held, endings)
    give(current, held.slice(0, until), pieces)
    held = held.slice(until)
    if (end === undefined) return false
    message = undefined
    return true
  }

  function give(current: Message, body: string, pieces: Piece[]) {
    if (current.kind === 'call') {
      if (callCount === maxCalls) return
      callCount += 1
      pieces.push({ toolCall: { name: current.name, arguments: body.trim() || '{}' } })
    } else if (body !== '') {
      pieces.push(current.kind === 'reasoning' ? { reasoning: body } : { text: body })
    }
  }

  return {
    take,
    callCount: () => callCount,
    hasEnough: () => callCount >= maxCalls,
    isThinking: () => message?.kind === 'reasoning',

    /** Returns the text that was held back, at the end of the answer. Drops a header without a message. */
    finish(): Piece[] {
      const pieces: Piece[] = []
      if (message) give(message, held, pieces)
      held = ''
      message = undefined
      return pieces
    },
  }
}

function parseHead(head: string): Message {
  const name = /\bto=functions\.([\w.-]+)/.exec(head)?.[1]
  if (name) return { kind: 'call', name }
  return { kind: /<\|channel\|>\s*analysis\b/.test(head) ? 'reasoning' : 'text' }
}
