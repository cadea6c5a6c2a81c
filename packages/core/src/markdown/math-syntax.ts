/**
 * Extensions for micromark and mdast-util-from-markdown that support formulas: `\(…\)` and `$…$` within a line, and
 * `\[…\]` and `$$…$$` for display formulas. Only types are imported, because the core package has no dependencies.
 */
import type { Literal } from 'mdast'
import type { CompileContext, Token, Extension as TreeExtension } from 'mdast-util-from-markdown'
import type {
  Code,
  Construct,
  Effects,
  Extension,
  Point,
  State,
  TokenizeContext,
} from 'micromark-util-types'

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathFlow: 'mathFlow'
    mathText: 'mathText'
    /** The part of a formula that is on one line. micromark requires a separate token for each line. */
    mathData: 'mathData'
  }
}
declare module 'mdast' {
  interface RootContentMap {
    math: DisplayMath
    inlineMath: InlineMath
  }
  interface PhrasingContentMap {
    inlineMath: InlineMath
  }
}

/** A formula on lines of its own. */
export type DisplayMath = Literal & { type: 'math'; children?: never }
/** A formula in a paragraph. */
export type InlineMath = Literal & { type: 'inlineMath'; isDisplay: boolean; children?: never }

/** Maximum number of characters. Limited because the parser searches this far for the end of each formula. */
const maxInlineLength = 1_000
const maxDisplayLength = 4_000

const [dollar, backslash] = [36, 92]
const [openParen, closeParen, openBracket, closeBracket] = [40, 41, 91, 93]

const isLineEnding = (code: Code) => code !== null && code < -2
const isSpace = (code: Code) => code === -2 || code === -1 || code === 32
const isAlphanumeric = (code: Code) =>
  code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCodePoint(code))

/** Extension for micromark. The constructs are named `mathText` and `mathFlow`. */
export const mathSyntax = (): Extension => ({
  text: { [dollar]: dollarText, [backslash]: backslashText },
  flow: { [dollar]: mathFlow, [backslash]: mathFlow },
})

/** Extension for mdast-util-from-markdown. */
export const mathFromMarkdown = (): TreeExtension => ({
  enter: {
    mathFlow(this: CompileContext, token: Token) {
      const value = readValue(this.sliceSerialize(token))
      this.enter({ type: 'math', value }, token)
    },
    mathText(this: CompileContext, token: Token) {
      const source = this.sliceSerialize(token)
      const isDisplay = source.startsWith('$$') || source.startsWith('\\[')
      const node: InlineMath = { type: 'inlineMath', value: readValue(source), isDisplay }
      this.enter(node, token)
    },
  },
  exit: { mathFlow: leave, mathText: leave },
})

function leave(this: CompileContext, token: Token) {
  this.exit(token)
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

const dollarText: Construct = {
  name: 'mathText',
  tokenize: tokenizeText,
  previous: (code: Code) => code !== dollar && !isAlphanumeric(code),
}
const backslashText: Construct = { name: 'mathText', tokenize: tokenizeText }

function tokenizeText(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  let start: Point
  /** The character that, after a backslash, ends the formula; undefined if dollar signs end the formula. */
  let closing: number | undefined
  let isDouble = false
  let previous: Code = null
  let length = 0

  const open: State = (code) => {
    start = effects.enter('mathText').start
    effects.enter('mathData')
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
    effects.exit('mathData')
    effects.enter('lineEnding')
    effects.consume(code)
    effects.exit('lineEnding')
    effects.enter('mathData')
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
    if (!isFormula(this.sliceSerialize({ start, end: this.now() }))) return nok(code)
    effects.exit('mathData')
    effects.exit('mathText')
    return ok(code)
  }

  return open
}

/** A display formula on lines of its own, without blank lines. */
const mathFlow: Construct = { name: 'mathFlow', tokenize: tokenizeFlow, concrete: true }

function tokenizeFlow(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  let start: Point
  let closing: number
  let length = 0

  const open: State = (code) => {
    start = effects.enter('mathFlow').start
    effects.enter('mathData')
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
    effects.exit('mathData')
    effects.enter('lineEnding')
    effects.consume(code)
    effects.exit('lineEnding')
    effects.enter('mathData')
    return lineStart
  }

  const lineStart: State = (code) => {
    const { line } = this.now()
    if (this.parser.lazy[line] || code === null || isLineEnding(code)) return nok(code)
    if (!isSpace(code)) return inside(code)
    effects.consume(code)
    return lineStart
  }

  const end: State = (code) => {
    if (!isFormula(this.sliceSerialize({ start, end: this.now() }))) return nok(code)
    effects.exit('mathData')
    effects.exit('mathFlow')
    return afterEnd(code)
  }

  const afterEnd: State = (code) => {
    if (code === null || isLineEnding(code)) return ok(code)
    if (!isSpace(code)) return nok(code)
    effects.enter('whitespace')
    return trailingSpace(code)
  }

  const trailingSpace: State = (code) => {
    if (isSpace(code)) {
      effects.consume(code)
      return trailingSpace
    }
    effects.exit('whitespace')
    return afterEnd(code)
  }

  return open
}
