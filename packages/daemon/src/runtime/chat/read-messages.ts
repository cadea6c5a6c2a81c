import type { Piece } from '../runtime.ts'
import { argumentsPiece, beginCall, type CallPlace } from './formats/call-reader.ts'
import { callsReader } from './formats/calls-reader.ts'
import { give, type Parsing } from './formats/input.ts'
import { readJsonCalls } from './formats/json-calls.ts'
import { markers } from './formats/markers.ts'
import { messageMark } from './formats/message-format.ts'
import type { Answer } from './read-answer.ts'
import { reasoningText } from './reasoning-text.ts'

const bodyBegin = markers(messageMark)
const endings = ['<|end|>', '<|call|>', '<|return|>', '<|start|>', '<|eom|>', '<|eot|>']
const bodyEnd = markers(...endings)
const ignore = () => undefined

/**
 * Reads an answer that consists of several messages with headers. `<|channel|>analysis<|message|>` and `to=self` are
 * reasoning, and `to=functions.add` and `to=add` are calls. Messages to unknown recipients are dropped. Any other
 * message is text for the user.
 */
export function* readMessages({ format, reader, keepsReasoning, setThinking }: Answer): Parsing {
  const { input, tools } = reader
  const calls = callsReader(format.calls, reader)
  const hasRecipients = tools.size > 0 && format.calls.syntax?.kind === 'message'
  for (;;) {
    let head = ''
    const begin = yield* input.until(bodyBegin, (text) => {
      head += text
      if (hasRecipients) reader.onPlace(placeIn(head))
      return undefined
    })
    if (begin === undefined) return
    const recipient = /\bto=(?:functions\.)?([\w.-]+)/.exec(head)?.[1]
    if (recipient !== undefined && tools.has(recipient)) yield* readCall(recipient)
    else if (isReasoning(head, recipient)) yield* think(head)
    else if (recipient !== undefined && !users.has(recipient)) yield* input.until(bodyEnd, ignore)
    else yield* readText(head)
    reader.onPlace('elsewhere')
  }

  function* readCall(name: string): Parsing {
    yield* input.skipSpace()
    const open = yield* input.accept(...format.calls.opens)
    if (open === undefined || !(yield* calls.readAfter(open))) {
      yield* beginCall(reader, name)
      yield* input.until(bodyEnd, argumentsPiece)
      reader.onCallEnd()
    } else yield* input.until(bodyEnd, ignore)
  }

  function* think(head: string): Parsing {
    const text = reasoningText(head + messageMark, keepsReasoning)
    setThinking(true)
    const end = yield* input.until(bodyEnd, text.take)
    setThinking(false)
    if (end !== undefined) yield* give(text.close(end))
  }

  /** Reads text or a forced call. A forced call has no recipient. */
  function* readText(head: string): Parsing {
    const isJson = head.includes('commentary') && head.includes('<|constrain|>')
    if (isJson && (yield* input.attempt(readJsonCalls(reader)))) yield* input.until(bodyEnd, ignore)
    else yield* input.until(bodyEnd, (text): Piece => ({ text }))
  }
}

/** The position within a message's header. A call begins with its recipient. */
function placeIn(head: string): CallPlace {
  if (head.endsWith('to=')) return 'before'
  return head.includes('to=') ? 'within' : 'elsewhere'
}

/** Recipients that are not tools. A message to one of them is read like a message without a recipient. */
const users = new Set(['user', 'assistant', 'all'])

const isReasoning = (head: string, recipient: string | undefined): boolean =>
  recipient === 'self' ||
  (/<\|channel\|>\s*analysis\b/.test(head) && (recipient === undefined || users.has(recipient)))
