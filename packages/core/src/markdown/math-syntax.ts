/**
 * Extensions for micromark and mdast-util-from-markdown that support formulas: `\(…\)` and `$…$` within a line, and
 * `\[…\]` and `$$…$$` for display formulas. This file declares the libraries' types that it needs, because the core
 * package imports nothing.
 */

/** A character code, or a negative number for line endings and tabs; null at the end of the text. */
type Code = number | null
type State = (code: Code) => State | undefined
type Point = { offset: number }
type Token = { start: Point; end: Point }
type Effects = {
  enter(type: never): Token
  exit(type: never): Token
  consume(code: Code): undefined
}
type Context = {
  interrupt?: boolean | undefined
  now(): Point
  sliceSerialize(token: never): string
  parser: { lazy: Record<number, boolean | undefined> }
}
type CompileContext = {
  enter(node: never, token: never): unknown
  exit(token: never): unknown
  sliceSerialize(token: never): string
}

/** A formula on lines of its own. */
export type DisplayMath = { type: 'math'; value: string; children?: never }
/** A formula in a paragraph. */
export type InlineMath = {
  type: 'inlineMath'
  value: string
  isDisplay: boolean
  children?: never
}

/** Maximum number of characters. Limited because the parser searches this far for the end of each formula. */
const maxInlineLength = 1_000
const maxDisplayLength = 4_000

const [dollar, backslash] = [36, 92]
const [openParen, closeParen, openBracket, closeBracket] = [40, 41, 91, 93]

const isLineEnding = (code: Code) => code !== null && code < -2
const isSpace = (code: Code) => code === -2 || code === -1 || code === 32
const isAlphanumeric = (code: Code) =>
  code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCodePoint(code))

/** The part of a formula that is on one line. micromark requires a separate token for each line. */
const data = 'mathData' as never

/** Extension for micromark. The constructs are named `mathText` and `mathFlow`. */
export const mathSyntax = () => ({
  text: { [dollar]: dollarText, [backslash]: backslashText },
  flow: { [dollar]: mathFlow, [backslash]: mathFlow },
})

/** Extension for mdast-util-from-markdown. */
export const mathFromMarkdown = () => ({
  enter: {
    mathFlow(this: CompileContext, token: Token) {
      const value = readValue(this.sliceSerialize(token as never))
      this.enter({ type: 'math', value } satisfies DisplayMath as never, token as never)
    },
    mathText(this: CompileContext, token: Token) {
      const source = this.sliceSerialize(token as never)
      const isDisplay = source.startsWith('$$') || source.startsWith('\\[')
      const node: InlineMath = { type: 'inlineMath', value: readValue(source), isDisplay }
      this.enter(node as never, token as never)
    },
  },
  exit: { mathFlow: leave, mathText: leave },
})

function leave(this: CompileContext, token: Token) {
  this.exit(token as never)
}

/** Removes the delimiters. */
function readValue(source: string): string {
  const length = /^\$(?!\$)/.test(source) ? 1 : 2
  return source.slice(length, -length).replace(/\r\n?/g, '\n').trim()
}

/**
 * Whether the text between delimiters is a formula. The delimiters also occur in prices (`$5 and $6`), shell variables
 * (`$HOME/$USER`) and escaped brackets (`\[1\]`).
 */
function isFormula(source: string): boolean {
  const value = readValue(source)
  if (value === '') return false
  if (source.startsWith('\\(')) return true
  const hasOperator = /[\\^_=+<>{}]/.test(value)
  if (source.startsWith('\\[')) return hasOperator
  const hasWord = /[\p{L}]{2}/u.test(value.replace(/\\[a-z]+\*?\s*(?:\{[^{}]*\})?/gi, ''))
  if (source.startsWith('$$')) return hasOperator || !hasWord
  return !hasWord || (hasOperator && !/^[\d.,]/.test(value))
}

const dollarText = {
  name: 'mathText',
  tokenize: tokenizeText,
  previous: (code: Code) => code !== dollar && !isAlphanumeric(code),
}
const backslashText = { name: 'mathText', tokenize: tokenizeText }

function tokenizeText(this: Context, effects: Effects, ok: State, nok: State): State {
  const type = 'mathText' as never
  let start: Point
  /** The character that, after a backslash, ends the formula; undefined if dollar signs end the formula. */
  let closing: number | undefined
  let isDouble = false
  let previous: Code = null
  let length = 0

  const open: State = (code) => {
    start = effects.enter(type).start
    effects.enter(data)
    effects.consume(code)
    return code === dollar ? afterDollar : afterBackslash
  }

  const afterDollar: State = (code) => {
    if (code !== dollar) return isSpace(code) ? nok(code) : inside(code)
    isDouble = true
    effects.consume(code)
    return (next) => (next === dollar ? nok(next) : inside(next))
  }

  const afterBackslash: State = (code) => {
    if (code !== openParen && code !== openBracket) return nok(code)
    closing = code === openParen ? closeParen : closeBracket
    isDouble = code === openBracket
    effects.consume(code)
    return inside
  }

  const inside: State = (code) => {
    if (code === null || length > (isDouble ? maxDisplayLength : maxInlineLength)) return nok(code)
    length += 1
    if (isLineEnding(code)) return closing === undefined && !isDouble ? nok(code) : lineEnding(code)
    if (code === backslash) {
      effects.consume(code)
      return escaped
    }
    if (code === dollar && closing === undefined) {
      if (!isDouble && isSpace(previous)) return nok(code)
      effects.consume(code)
      return isDouble ? secondDollar : end
    }
    previous = code
    effects.consume(code)
    return inside
  }

  const escaped: State = (code) => {
    if (code === null || isLineEnding(code)) return inside(code)
    previous = code
    effects.consume(code)
    return code === closing ? end : inside
  }

  const lineEnding: State = (code) => {
    effects.exit(data)
    effects.enter('lineEnding' as never)
    effects.consume(code)
    effects.exit('lineEnding' as never)
    effects.enter(data)
    return inside
  }

  const secondDollar: State = (code) => {
    if (code !== dollar) return nok(code)
    effects.consume(code)
    return end
  }

  const end: State = (code) => {
    if (closing === undefined && (code === dollar || (!isDouble && isAlphanumeric(code)))) {
      return nok(code)
    }
    if (!isFormula(this.sliceSerialize({ start, end: this.now() } as never))) return nok(code)
    effects.exit(data)
    effects.exit(type)
    return ok(code)
  }

  return open
}

/** A display formula on lines of its own, without blank lines. */
const mathFlow = { name: 'mathFlow', tokenize: tokenizeFlow, concrete: true }

function tokenizeFlow(this: Context, effects: Effects, ok: State, nok: State): State {
  const type = 'mathFlow' as never
  let start: Point & { line?: number }
  let closing: number
  let length = 0

  const open: State = (code) => {
    start = effects.enter(type).start
    effects.enter(data)
    closing = code === dollar ? dollar : closeBracket
    effects.consume(code)
    return second
  }

  const second: State = (code) => {
    if (code !== (closing === dollar ? dollar : openBracket)) return nok(code)
    effects.consume(code)
    return this.interrupt ? aloneInLine : inside
  }

  /** An opening line can interrupt a paragraph only if it contains just the delimiter. */
  const aloneInLine: State = (code) => {
    if (code === null || isLineEnding(code)) return ok(code)
    if (!isSpace(code)) return nok(code)
    effects.consume(code)
    return aloneInLine
  }

  const inside: State = (code) => {
    if (code === null || length > maxDisplayLength) return nok(code)
    length += 1
    if (isLineEnding(code)) return lineEnding(code)
    effects.consume(code)
    if (code === backslash) return escaped
    return code === dollar && closing === dollar ? secondDollar : inside
  }

  const escaped: State = (code) => {
    if (code === null || isLineEnding(code)) return inside(code)
    effects.consume(code)
    return code === closing && closing !== dollar ? end : inside
  }

  const secondDollar: State = (code) => {
    if (code !== dollar) return nok(code)
    effects.consume(code)
    return end
  }

  const lineEnding: State = (code) => {
    effects.exit(data)
    effects.enter('lineEnding' as never)
    effects.consume(code)
    effects.exit('lineEnding' as never)
    effects.enter(data)
    return lineStart
  }

  const lineStart: State = (code) => {
    const { line } = this.now() as Point & { line: number }
    if (this.parser.lazy[line] || code === null || isLineEnding(code)) return nok(code)
    if (!isSpace(code)) return inside(code)
    effects.consume(code)
    return lineStart
  }

  const end: State = (code) => {
    if (!isFormula(this.sliceSerialize({ start, end: this.now() } as never))) return nok(code)
    effects.exit(data)
    effects.exit(type)
    return afterEnd(code)
  }

  const afterEnd: State = (code) => {
    if (code === null || isLineEnding(code)) return ok(code)
    if (!isSpace(code)) return nok(code)
    effects.enter('whitespace' as never)
    return trailingSpace(code)
  }

  const trailingSpace: State = (code) => {
    if (isSpace(code)) {
      effects.consume(code)
      return trailingSpace
    }
    effects.exit('whitespace' as never)
    return afterEnd(code)
  }

  return open
}
