/**
 * Calls whose arguments are in tags, one for each parameter: `<function=add><parameter=a>1</parameter></function>`.
 * Values are written as plain text; the tool's schema defines their types.
 */

import { propertySchema, typesOf } from '@shoal/grammar'
import {
  beginCall,
  type CallReader,
  maxHeadLength,
  type ReadCalls,
  writeArguments,
} from './call-reader.ts'
import type { Parsing } from './input.ts'
import { inJson } from './literal-calls.ts'
import { markers } from './markers.ts'
import { nestedJson } from './nested-parameters.ts'
import { toJson } from './to-json.ts'

export type ParameterTags = {
  /** What follows a call's name. There may be attributes between the name and this marker. */
  nameEnd: string
  /** What precedes and follows a parameter's name. There may be attributes between the name and `keyEnd`. */
  keyOpen: string
  keyEnd: string
  /** What precedes a value, after `keyEnd`. */
  valueOpen: string
  /** What follows a value. `KEY` represents the parameter's name. */
  valueEnd: string
  end: string
  /** Whether a value is enclosed in two line feeds, which are not part of the value. */
  isPadded: boolean
}

const cdataOpen = '<![CDATA['
const cdataEnd = markers(']]>')

export function parameterCalls(tags: ParameterTags): ReadCalls {
  const nameEnd = markers(tags.nameEnd)
  const keyEnd = markers(tags.keyEnd)

  return function* readParameterCall(reader: CallReader): Parsing<true | undefined> {
    const { input, tools } = reader
    const name = yield* input.matching(/^[\w.-]*/, maxHeadLength)
    const tool = tools.get(name)
    if (tool === undefined) return undefined
    if (tags.nameEnd !== '' && (yield* input.within(nameEnd, maxHeadLength)) === undefined) {
      return undefined
    }
    yield* input.skipSpace()
    let next = yield* input.accept(tags.end, tags.keyOpen)
    if (next === undefined && (yield* input.more()) && tags.nameEnd === '') return undefined
    yield* beginCall(reader, name)
    yield* writeArguments('{')
    for (let count = 0; next === tags.keyOpen; count += 1) {
      if (count > 0) yield* writeArguments(', ')
      if (!(yield* readParameter(reader, tool.parameters))) return true
      yield* input.skipSpace()
      next = yield* input.accept(tags.end, tags.keyOpen)
    }
    if (next === undefined && !(yield* input.more())) return true
    yield* writeArguments('}')
    reader.onCallEnd()
    return true
  }

  /** Reads one parameter. Returns false if the answer ends within it. */
  function* readParameter({ input }: CallReader, schema: unknown): Parsing<boolean> {
    const head = yield* input.within(keyEnd, maxHeadLength)
    if (head === undefined) return false
    const [key = ''] = head.split('"')
    yield* writeArguments(`${JSON.stringify(key)}: `)
    if (tags.valueOpen !== '') {
      yield* input.skipSpace()
      yield* input.accept(tags.valueOpen)
    }
    if (tags.isPadded) yield* input.accept('\n')
    const own = propertySchema(schema, key, schema)
    const types = typesOf(own, schema)
    const isText = types.size === 1 && types.has('string')
    const end = tags.valueEnd.replace('KEY', () => key)
    const ends = markers(end, ...(tags.isPadded ? [`\n${end}`] : []))
    const isCdata = (yield* input.accept(cdataOpen)) !== undefined
    const valueEnds = isCdata ? cdataEnd : ends
    let found: string | undefined
    if (isText) {
      yield* writeArguments('"')
      found = yield* input.until(valueEnds, (text) => ({ argumentsDelta: inJson(text) }))
      if (found !== undefined) yield* writeArguments('"')
    } else {
      let text = ''
      found = yield* input.until(valueEnds, (part) => {
        text += part
        return undefined
      })
      if (found !== undefined)
        yield* writeArguments(
          nestedJson(text, { tags, schema: own, root: schema }) ?? toJson(text, types),
        )
    }
    if (isCdata && found !== undefined) found = yield* input.until(ends, () => undefined)
    return found !== undefined
  }
}
