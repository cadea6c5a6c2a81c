import type { Piece, Tool } from '../../runtime.ts'
import type { Input, Parsing } from './input.ts'

/** The parser's position: before the first character of a call in markers, within such calls, or elsewhere. */
export type CallPlace = 'before' | 'within' | 'elsewhere'

/** The input and the callbacks of call parsers. */
export type CallReader = {
  input: Input
  /** The tools that may be called, by name. */
  tools: ReadonlyMap<string, Tool['function']>
  /**
   * Whether the calls follow opening markers, which have already been read. Without markers, text that resembles a call
   * may not be one.
   */
  isMarked: boolean
  /** Called when the position changes: after a call's opening markers, at its first character, and after its end. */
  onPlace: (place: CallPlace) => void
  /** Called at the end of each complete call. */
  onCallEnd: () => void
}

/**
 * Reads one or several calls. Returns undefined if the text is not a call to one of the tools. In that case, nothing
 * has been yielded and the text can be put back.
 */
export type ReadCalls = (reader: CallReader) => Parsing<true | undefined>

/** Reads one call, or several calls in brackets. `readCall` reads a call after whitespace. */
export function* readCallOrList(
  { input }: CallReader,
  readCall: () => Parsing<true | undefined>,
): Parsing<true | undefined> {
  yield* input.skipSpace()
  const isList = (yield* input.accept('[')) !== undefined
  let result: true | undefined
  do {
    yield* input.skipSpace()
    if (!(yield* input.attempt(readCall()))) return result
    result = true
    if (isList) yield* input.skipSpace()
  } while (isList && (yield* input.accept(',')))
  if (isList) yield* input.accept(']')
  return result
}

/** The maximum number of characters between an opening marker and the arguments. */
export const maxHeadLength = 256

/** Yields the beginning of a call. From then on, the call's text cannot be put back. */
export function* beginCall({ input }: CallReader, name: string): Parsing {
  input.commit()
  yield { toolCall: { name, arguments: '' } }
}

export const argumentsPiece = (text: string): Piece => ({ argumentsDelta: text })

/** Yields arguments that have been converted to JSON, for formats in which they are not written as JSON. */
export function* writeArguments(json: string): Parsing {
  yield argumentsPiece(json)
}

/** Finds the name of a tool in the head of a call, which may also contain an ID or a prefix such as `functions.`. */
export function findName(head: string, { tools }: CallReader): string | undefined {
  const words = head.split(/[^\w.-]+/).flatMap((word) => [word, word.replace(/^functions\./, '')])
  return words.find((word) => tools.has(word))
}
