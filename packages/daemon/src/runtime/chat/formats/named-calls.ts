/**
 * Calls written as a name and a JSON object, for example `add[ARGS]{"a": 1}`. The markers (here `[ARGS]`) differ
 * between models.
 */

import {
  beginCall,
  type CallReader,
  findName,
  maxHeadLength,
  type ReadCalls,
} from './call-reader.ts'
import type { Parsing } from './input.ts'
import { readArguments } from './json-calls.ts'
import { markers } from './markers.ts'

/** Returns a function that reads a named call. `nameEnd` is the last marker between the name and the arguments. */
export function namedCalls(nameEnd: string): ReadCalls {
  const end = markers(nameEnd)
  return function* readNamedCall(reader: CallReader): Parsing<true | undefined> {
    const { input } = reader
    const head = yield* input.within(end, maxHeadLength)
    const name = head === undefined ? undefined : findName(head, reader)
    if (name === undefined) return undefined
    yield* input.skipSpace()
    if (!(yield* input.more())) yield* beginCall(reader, name)
    else if (!input.rest.startsWith('{')) return undefined
    else {
      yield* readArguments(reader, name)
      reader.onCallEnd()
    }
    return true
  }
}
