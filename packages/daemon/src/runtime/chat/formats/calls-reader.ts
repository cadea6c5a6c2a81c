import type { CallFormat } from './answer-format.ts'
import type { CallReader } from './call-reader.ts'
import type { Parsing } from './input.ts'
import { readJsonCalls } from './json-calls.ts'

/** Parses the tool calls in an answer, including the markers around them. */
export function callsReader({ opens, closes, gap, isBare, read }: CallFormat, reader: CallReader) {
  const { input, tools } = reader
  const hasTools = tools.size > 0
  const [outermost] = opens
  const between = [...new Set([...closes, ...opens])].sort((a, b) => b.length - a.length)

  /** Reads the remaining opening markers and the calls. */
  function* readInMarkers(marker: string): Parsing<true | undefined> {
    let index = opens.indexOf(marker)
    for (;;) {
      if (index === opens.length - 1) reader.onPlace('before')
      yield* input.skipSpace()
      const inner = yield* input.accept(...opens.slice(index + 1))
      if (inner === undefined) break
      index = opens.indexOf(inner)
    }
    const hasMore = yield* input.more()
    reader.onPlace('within')
    const result = hasMore ? yield* readBody(index) : undefined
    reader.onPlace('elsewhere')
    return result
  }

  function* readBody(index: number): Parsing<true | undefined> {
    // Forced calls are JSON, regardless of the format.
    if (input.rest.startsWith('{') || isBare) return yield* readJsonCalls(reader)
    return index === opens.length - 1 ? yield* read(reader) : undefined
  }

  /** Reads a closing marker, or another call. */
  function* readNext(): Parsing<true | undefined> {
    yield* input.skipSpace()
    const marker = yield* input.accept(...between)
    if (marker === undefined) return undefined
    return closes.includes(marker) ? true : yield* readInMarkers(marker)
  }

  return {
    /**
     * The opening markers. The outermost one also occurs with the whitespace that the template prints before it, if
     * any.
     */
    opensAfterText: !hasTools ? [] : gap && outermost ? [gap + outermost, ...opens] : opens,
    /**
     * The opening markers that are recognized within reasoning, because a call ends the reasoning. There are none in
     * formats with a single opening marker: reasoning may contain one marker by accident, but is unlikely to contain a
     * sequence of markers.
     */
    opensInReasoning: hasTools && opens.length > 1 ? opens : [],

    /** Reads all calls after an opening marker. If there is no call, returns false and consumes no text. */
    *readAfter(marker: string): Parsing<boolean> {
      if (!(yield* input.attempt(readInMarkers(marker)))) return false
      while (yield* input.attempt(readNext()));
      return true
    },

    /** Reads calls without markers, which are recognized only at the beginning of a part. */
    *readBare(): Parsing<boolean> {
      if (!isBare || !hasTools) return false
      return (yield* input.attempt(read({ ...reader, isMarked: false }))) ?? false
    },
  }
}
