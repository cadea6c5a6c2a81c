import type { Piece } from '../runtime.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import type { CallReader } from './formats/call-reader.ts'
import { callsReader } from './formats/calls-reader.ts'
import { give, type Parsing } from './formats/input.ts'
import { markers } from './formats/markers.ts'
import { reasoningText } from './reasoning-text.ts'

/** The input of the answer parsers. */
export type Answer = {
  format: AnswerFormat
  reader: CallReader
  /** Whether reasoning and its markers are left in the text. */
  keepsReasoning: boolean
  /** Whether the answer must be JSON or calls. */
  isBound: boolean
  setThinking(isThinking: boolean): void
}

/** Reads an answer in which markers enclose reasoning and calls. */
export function* readAnswer(answer: Answer): Parsing {
  const { format, reader, keepsReasoning, isBound, setThinking } = answer
  const { reasoning, content } = format
  const { input } = reader
  const calls = callsReader(format.calls, reader)
  const thinkMarkers = [reasoning?.open ?? '', reasoning?.close ?? '']
  /**
   * The control token with which the opening marker begins. The token is dropped if the rest of the marker does not
   * follow.
   */
  const [controlToken = ''] = /^<[^<>]*>/.exec(reasoning?.open ?? '') ?? []
  /**
   * The reasoning markers that are recognized even within text: only those with control tokens, because others could be
   * meant literally.
   */
  const anywhere = reasoning?.open.includes('|') ? [...thinkMarkers, controlToken] : []
  const contentMarkers = content ? [content.open, content.close] : []
  const inAnyText = [...calls.opensAfterText, ...anywhere, ...contentMarkers]
  const inText = markers(...(isBound ? [] : inAnyText))
  const { all: atBeginning } = markers(...thinkMarkers, ...(isBound ? inAnyText : []))
  const inReasoning = markers(
    reasoning?.close ?? '',
    ...(isBound ? [] : [content?.open ?? '']),
    ...calls.opensInReasoning,
  )
  /** Whether the parser is at the beginning of a part. Some markers are recognized only there. */
  let isBeginning = true
  /** Whether whitespace at the beginning of a part is dropped. */
  let isAfterPart = reasoning !== undefined
  /** Whitespace at the beginning of a part, which is held back because it is dropped if a call follows. */
  let lead = ''
  /** Whether the text for the user has ended. If so, text is dropped, and only markers are recognized. */
  let isOutside = false

  if (reasoning?.open === '') yield* think('')
  for (;;) {
    if (isBeginning) {
      const space = yield* input.matching(/^\s*/, Number.POSITIVE_INFINITY)
      lead = isAfterPart ? '' : space
      if (yield* calls.readBare()) {
        isAfterPart = true
        continue
      }
    }
    const first = isBeginning ? yield* input.accept(...atBeginning) : undefined
    const marker = first ?? (yield* input.until(inText, toText))
    if (marker === undefined) break
    if (yield* follow(marker.trimStart())) {
      isBeginning = true
      isAfterPart ||= !keepsReasoning
    } else yield* give(toText(marker))
  }
  if (lead !== '') yield { text: lead }

  /** Reads the part that a marker begins. Returns false if the marker is only text. */
  function* follow(marker: string): Parsing<boolean> {
    if (marker === content?.close) isOutside = true
    else if (marker === content?.open) {
      isOutside = false
      isAfterPart = true
    } else if (marker === reasoning?.open) yield* think(marker)
    else if (marker !== reasoning?.close && marker !== controlToken) {
      if (!(yield* calls.readAfter(marker))) return false
      isOutside = content !== undefined
      isAfterPart = true
    }
    return true
  }

  function* think(open: string): Parsing {
    const text = reasoningText(open, keepsReasoning)
    setThinking(true)
    isOutside = false
    isAfterPart = !keepsReasoning
    for (;;) {
      const marker = yield* input.until(inReasoning, text.take)
      if (marker === undefined) break
      if (marker === reasoning?.close) yield* give(text.close(marker))
      else if (!(yield* follow(marker))) {
        yield* give(text.take(marker))
        continue
      }
      break
    }
    setThinking(false)
  }

  function toText(text: string): Piece | undefined {
    if (isOutside) return undefined
    const whole = lead + text
    lead = ''
    isBeginning = false
    isAfterPart = false
    return { text: whole }
  }
}
