import type { Piece } from '../../runtime.ts'
import { type Markers, partialLength } from './markers.ts'

/** A parser of streamed text. Yields parts of the answer, and yields undefined when it needs more text. */
export type Parsing<T = void> = Generator<Piece | undefined, T>

/** Converts text to a part of the answer, or stores the text and returns undefined. */
export type Pass = (text: string) => Piece | undefined

/** Yields a piece, if there is one. */
export function* give(piece: Piece | undefined): Parsing {
  if (piece) yield piece
}

/** The text of an answer, which arrives in parts while it is parsed. */
export class Input {
  #text = ''
  #place = 0
  #isEnded = false
  /** The earliest position to which a parser may backtrack; undefined if consumed text can be discarded. */
  #kept: number | undefined

  add(text: string) {
    const from = this.#kept ?? this.#place
    this.#text = this.#text.slice(from) + text
    this.#place -= from
    if (this.#kept !== undefined) this.#kept = 0
  }

  end() {
    this.#isEnded = true
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The text that has arrived and has not been consumed. */
  get rest(): string {
    return this.#text.slice(this.#place)
  }

  take(length: number): string {
    this.#place += length
    return this.#text.slice(this.#place - length, this.#place)
  }

  /** Waits for text. Returns false at the end of the answer. */
  *more(): Parsing<boolean> {
    while (this.#place === this.#text.length) {
      if (this.#isEnded) return false
      yield undefined
    }
    return true
  }

  /**
   * Runs a parser. If the parser returns undefined and has not called `commit`, restores the text that it has consumed.
   */
  *attempt<T>(parser: Parsing<T | undefined>): Parsing<T | undefined> {
    const outer = this.#kept
    this.#kept ??= this.#place
    const start = this.#place - this.#kept
    const result = yield* parser
    if (result === undefined && this.#kept !== undefined) this.#place = this.#kept + start
    if (outer === undefined) this.#kept = undefined
    return result
  }

  /** Rules out backtracking past this point: consumed text is not restored. */
  commit() {
    this.#kept = undefined
  }

  *skipSpace(): Parsing {
    while (yield* this.more()) {
      this.take(this.rest.length - this.rest.trimStart().length)
      if (this.#place < this.#text.length) return
    }
  }

  /**
   * Consumes the first of the strings with which the text continues, if any. If one string is a prefix of another, the
   * longer one must come first.
   */
  *accept(...options: readonly string[]): Parsing<string | undefined> {
    for (;;) {
      const { rest } = this
      const mayFollow = options.some((one) => one.length > rest.length && one.startsWith(rest))
      if (!mayFollow || this.#isEnded) {
        const found = options.find((option) => rest.startsWith(option))
        this.take(found?.length ?? 0)
        return found
      }
      yield undefined
    }
  }

  /**
   * Passes on the text before the first marker, consumes the marker, and returns it. Returns undefined if the answer
   * ends without a marker.
   */
  *until({ pattern, all }: Markers, pass: Pass): Parsing<string | undefined> {
    for (;;) {
      const { rest } = this
      const found = pattern.exec(rest)
      const held = this.#isEnded ? 0 : partialLength(found ? rest.slice(found.index) : rest, all)
      /** Whether the marker may be the beginning of a longer one. */
      const isPartial = found !== null && held === rest.length - found.index
      const end = found?.index ?? rest.length - held
      if (end > 0) yield* give(pass(this.take(end)))
      if (found && !isPartial) return this.take(found[0].length)
      if (this.#isEnded) return undefined
      yield undefined
    }
  }

  /**
   * If a marker follows within `limit` characters, consumes the text up to the end of the marker, and returns the text
   * before the marker. Otherwise, returns undefined.
   */
  *within({ pattern }: Markers, limit: number): Parsing<string | undefined> {
    for (;;) {
      const found = pattern.exec(this.rest.slice(0, limit))
      if (found) {
        const text = this.take(found.index)
        this.take(found[0].length)
        return text
      }
      if (this.#isEnded || this.rest.length >= limit) return undefined
      yield undefined
    }
  }

  /** Consumes the longest text that matches, up to about `limit` characters. The pattern must begin with `^`. */
  *matching(pattern: RegExp, limit: number): Parsing<string> {
    let text = ''
    while (text.length < limit && (yield* this.more())) {
      text += this.take(pattern.exec(this.rest)?.[0].length ?? 0)
      if (this.#place < this.#text.length) break
    }
    return text
  }
}
