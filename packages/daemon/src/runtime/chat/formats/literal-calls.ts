/**
 * Calls whose arguments are literals of another language: `[add(a=1, b="x")]` in Python, and Gemma's
 * `call:add{a:1,b:<|"|>x<|"|>}`. The literals are converted to JSON.
 */

import {
  beginCall,
  type CallReader,
  type ReadCalls,
  readCallOrList,
  writeArguments,
} from './call-reader.ts'
import type { Input, Parsing } from './input.ts'
import { jsonValue } from './json-value.ts'
import { type Markers, markers } from './markers.ts'

export type Dialect = {
  /** The text before, between and after the arguments. */
  open: string
  equals: string
  close: string
  /**
   * For each opening quote, the markers that the parser looks for within the string: the closing quote and, in Python,
   * the backslash.
   */
  quotes: ReadonlyMap<string, Markers>
}

const pythonQuotes = ['"""', "'''", '"', "'"]

export const python: Dialect = {
  open: '(',
  equals: '=',
  close: ')',
  quotes: new Map(pythonQuotes.map((quote) => [quote, markers(quote, '\\')])),
}

const gemmaQuote = '<|"|>'

export const gemma: Dialect = {
  open: '{',
  equals: ':',
  close: '}',
  quotes: new Map([[gemmaQuote, markers(gemmaQuote)]]),
}

const maxWordLength = 1000
const maxDepth = 100
const words: Record<string, string> = { True: 'true', False: 'false', None: 'null' }
const escapes: Record<string, string> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07', '0': '\0' },
  ...{ '\\': '\\', "'": "'", '"': '"', '\n': '' },
}
const codeLengths: Record<string, number> = { x: 2, u: 4, U: 8 }

export function literalCalls(dialect: Dialect): ReadCalls {
  const { open, equals, close } = dialect
  return (reader) => readCallOrList(reader, () => readCall(reader))

  function* readCall(reader: CallReader): Parsing<true | undefined> {
    const { input, tools } = reader
    const name = yield* input.matching(/^[\w.-]*/, maxWordLength)
    if (!tools.has(name) || !(yield* input.accept(open))) return undefined
    yield* beginCall(reader, name)
    if (yield* readPairs(input, { separator: equals, end: close, depth: 0 })) reader.onCallEnd()
    return true
  }

  /** Reads names and values up to `end`. Returns false if `end` is missing. */
  function* readPairs(
    input: Input,
    { separator, end, depth }: { separator: string; end: string; depth: number },
  ): Parsing<boolean> {
    yield* writeArguments('{')
    for (let count = 0; ; count += 1) {
      yield* input.skipSpace()
      if (!(yield* input.more())) return false
      if (yield* input.accept(end)) break
      if (count > 0) yield* writeArguments(', ')
      yield* readName(input)
      yield* input.skipSpace()
      if (!(yield* input.accept(separator))) return false
      yield* writeArguments(': ')
      if (!(yield* readLiteral(input, depth))) return false
    }
    yield* writeArguments('}')
    return true
  }

  function* readName(input: Input): Parsing {
    const quote = yield* input.accept(...dialect.quotes.keys())
    if (quote !== undefined) yield* readText(input, quote)
    else {
      const name = yield* input.matching(/^[^\s:=,}\])]*/, maxWordLength)
      yield* writeArguments(JSON.stringify(name))
    }
  }

  /** Reads a value and the comma after it. Returns false if the value is incomplete or nested too deeply. */
  function* readLiteral(input: Input, depth: number): Parsing<boolean> {
    if (depth > maxDepth) return false
    yield* input.skipSpace()
    const begin = yield* input.accept(...dialect.quotes.keys(), '[', '(', '{')
    let isWhole = true
    if (begin === undefined) isWhole = yield* readWord(input)
    else if (begin === '{')
      isWhole = yield* readPairs(input, { separator: ':', end: '}', depth: depth + 1 })
    else if (dialect.quotes.has(begin)) isWhole = yield* readText(input, begin)
    else isWhole = yield* readList(input, begin === '[' ? ']' : ')', depth + 1)
    yield* input.skipSpace()
    yield* input.accept(',')
    return isWhole
  }

  function* readList(input: Input, end: string, depth: number): Parsing<boolean> {
    yield* writeArguments('[')
    for (let count = 0; ; count += 1) {
      yield* input.skipSpace()
      if (!(yield* input.more())) return false
      if (yield* input.accept(end)) break
      if (count > 0) yield* writeArguments(', ')
      if (!(yield* readLiteral(input, depth))) return false
    }
    yield* writeArguments(']')
    return true
  }

  function* readWord(input: Input): Parsing<boolean> {
    const word = (yield* input.matching(/^[^,\])}]*/, maxWordLength)).trim()
    if (!(yield* input.more()) || word === '') return false
    const json = words[word] ?? word
    yield* writeArguments(jsonValue(json) === undefined ? JSON.stringify(word) : json)
    return true
  }

  /** Converts a string as it arrives. Returns false if the closing quote is missing. */
  function* readText(input: Input, quote: string): Parsing<boolean> {
    const marks = dialect.quotes.get(quote) ?? markers(quote)
    yield* writeArguments('"')
    for (;;) {
      const found = yield* input.until(marks, (text) => ({ argumentsDelta: inJson(text) }))
      if (found === undefined) return false
      if (found === quote) break
      yield* writeArguments(inJson(yield* readEscape(input)))
    }
    yield* writeArguments('"')
    return true
  }
}

/** Escapes text for use within a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Reads a Python escape sequence after its backslash. */
function* readEscape(input: Input): Parsing<string> {
  if (!(yield* input.more())) return ''
  const kind = input.take(1)
  const length = codeLengths[kind]
  if (length === undefined) return escapes[kind] ?? `\\${kind}`
  let digits = ''
  while (digits.length < length) {
    const digit = yield* input.matching(/^[\da-fA-F]/, 1)
    if (digit === '') return `\\${kind}${digits}`
    digits += digit
  }
  return String.fromCodePoint(Math.min(Number.parseInt(digits, 16), 0x10ffff))
}
