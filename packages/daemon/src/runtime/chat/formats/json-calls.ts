/** Calls that are JSON objects: `{"name": "add", "arguments": {"a": 1}}`, alone or in a list. */

import {
  argumentsPiece,
  beginCall,
  type CallReader,
  type ReadCalls,
  readCallOrList,
  writeArguments,
} from './call-reader.ts'
import type { Parsing } from './input.ts'
import { readJson, readString, readValue } from './json-text.ts'
import { jsonValue } from './json-value.ts'

const nameKeys = ['name', 'tool_name', 'function', 'tool']
const argumentKeys = ['arguments', 'parameters', 'args', 'input']

export const readJsonCalls: ReadCalls = (reader) => readCallOrList(reader, () => readObject(reader))

function* readObject(reader: CallReader): Parsing<true | undefined> {
  const { input, tools, isMarked } = reader
  if (!(yield* input.accept('{'))) return undefined
  let name: string | undefined
  /** The arguments, if they precede the name. */
  let early: unknown
  let isBegun = false
  for (;;) {
    yield* input.skipSpace()
    if (yield* input.accept('}')) break
    const key = yield* readKey(reader)
    if (key === undefined) return yield* cutOff()
    if (nameKeys.includes(key)) {
      const value = yield* readValue(input)
      if (typeof value !== 'string' || !tools.has(value)) return undefined
      name = value
    } else if (!isBegun && name !== undefined && argumentKeys.includes(key)) {
      if (!(yield* readArguments(reader, name))) return undefined
      isBegun = true
    } else if (!isBegun && tools.has(key)) {
      if (!(yield* readArguments(reader, key))) return undefined // {"add": {"a": 1}}
      name = key
      isBegun = true
    } else {
      const value = yield* readValue(input)
      if (value === undefined) return yield* cutOff()
      if (argumentKeys.includes(key)) early = value
    }
    yield* input.skipSpace()
    yield* input.accept(',')
  }
  if (name === undefined) return undefined
  if (!isBegun) {
    if (!isObject(early ?? {})) return undefined
    yield* beginCall(reader, name)
    yield* writeArguments(JSON.stringify(early ?? {}))
  }
  reader.onCallEnd()
  return true

  /**
   * Handles a call whose rest cannot be parsed. Accepts the call if its beginning has been yielded, or if it is in
   * markers, its name is known and the answer ends here. Otherwise, returns undefined.
   */
  function* cutOff(): Parsing<true | undefined> {
    if (isBegun) return true
    if (name === undefined || !isMarked || !input.isEnded || input.rest !== '') return undefined
    yield* beginCall(reader, name)
    return true
  }
}

function* readKey({ input }: CallReader): Parsing<string | undefined> {
  const key = yield* readString(input)
  if (key === undefined) return undefined
  yield* input.skipSpace()
  if (!(yield* input.accept(':'))) return undefined
  yield* input.skipSpace()
  return key
}

/** Begins the call and passes on its arguments, which are an object or a string that contains one. */
export function* readArguments(reader: CallReader, name: string): Parsing<true | undefined> {
  const { input } = reader
  if (!(yield* input.more())) return undefined
  if (input.rest.startsWith('{')) {
    yield* beginCall(reader, name)
    yield* readJson(input, argumentsPiece)
    return true
  }
  const value = yield* readValue(input)
  const json = value === null || value === '' ? '{}' : value
  if (typeof json !== 'string' || !isObject(jsonValue(json))) return undefined
  yield* beginCall(reader, name)
  yield* writeArguments(json)
  return true
}

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
