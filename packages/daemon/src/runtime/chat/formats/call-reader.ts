import type { Piece, Tool } from '../../runtime.ts'
import type { Input, Parsing } from './input.ts'

/** Where the parser is: before the first letter of a call in markers, within such calls, or elsewhere. */
export type CallPlace = 'before' | 'within' | 'elsewhere'

/** What a parser of calls needs. */
export type CallReader = {
  input: Input
  /** The tools that may be called, by name. */
  tools: ReadonlyMap<string, Tool['function']>
  /** Whether the calls are in markers, which the parser of the answer has taken. Otherwise, they could be text. */
  isMarked: boolean
  /** Called when the parser has taken all opening markers of a call, then has begun to read it, and then has read it. */
  onPlace: (place: CallPlace) => void
  /** Called at the end of each call that is complete. */
  onCallEnd: () => void
}

/**
 * Reads one or several calls. Returns undefined if the text is not a call to one of the tools; until then, nothing is
 * yielded and the text can be put back.
 */
export type ReadCalls = (reader: CallReader) => Parsing<true | undefined>

/** The longest text between an opening marker and the arguments. */
export const maxHeadLength = 256

/** Begins a call, for good: from now on, its text cannot be put back. */
export function* beginCall({ input }: CallReader, name: string): Parsing {
  input.commit()
  yield { toolCall: { name, arguments: '' } }
}

export const argumentsPiece = (text: string): Piece => ({ argumentsDelta: text })

/** Writes the arguments of a call as JSON, for formats that do not. */
export function* writeArguments(json: string): Parsing {
  yield argumentsPiece(json)
}

/** Finds the name of a tool in the head of a call, which may also contain an ID or a prefix such as `functions.`. */
export function findName(head: string, { tools }: CallReader): string | undefined {
  const words = head.split(/[^\w.-]+/).flatMap((word) => [word, word.replace(/^functions\./, '')])
  return words.find((word) => tools.has(word))
}
