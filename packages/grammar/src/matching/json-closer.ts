import { parseGbnf } from './gbnf-parser.ts'
import { type ShortestEnd, shortestEnd } from './shortest-end.ts'

export type JsonCloser = {
  /**
   * Whether the answer may continue with a token, after which at most `tokensLeft` more tokens can follow. If not, the
   * answer must end with `closing` instead of the token. `text` is what the token adds to the answer; empty if the
   * token ends within a character.
   */
  allows(text: string, tokensLeft: number): boolean
  /** Takes the text of a token without checking whether the JSON after it can be closed, such as reasoning. */
  skip(text: string): void
  /** The text that closes the JSON instead of the refused token, and its length in tokens. */
  closing(): { text: string; tokens: number }
}

/** Text is matched against the grammar only when at most this many tokens are left, because matching takes time. */
const maxTokensLeft = 1024
/** The maximum length of a grammar in characters. A longer grammar is not used, because parsing it takes too long. */
const maxGrammarLength = 200_000
/** The maximum number of tokens needed to complete a character. */
const characterTokens = 3

/**
 * Ensures that an answer's JSON is closed before the maximum number of tokens is reached, if its grammar allows that.
 * As soon as a token would leave too few tokens to close the JSON, the answer is closed instead. `countTokens` returns
 * the number of tokens in a text.
 */
export function jsonCloser(grammar: string, countTokens: (text: string) => number): JsonCloser {
  /** Undefined until it is needed. */
  let end: ShortestEnd | undefined
  let hasFailed = grammar.length > maxGrammarLength
  /** The text that has not been passed to `end` yet. */
  let unread = ''
  let closing = { text: '', tokens: Number.POSITIVE_INFINITY }

  /** Passes the text so far to `end`, and updates `closing`. */
  function advance() {
    end ??= shortestEnd(parseGbnf(grammar))
    hasFailed = !end.take(unread)
    unread = ''
    if (hasFailed) return
    const text = end.find()
    if (text !== closing.text) closing = { text, tokens: countTokens(text) }
  }

  return {
    allows(text, tokensLeft) {
      const isNear = !hasFailed && tokensLeft <= maxTokensLeft
      if (isNear && end === undefined) {
        advance()
        hasFailed ||= closing.tokens > tokensLeft + 1 // too few tokens are left to close the JSON
      }
      unread += text
      if (!isNear || hasFailed) return true
      const before = closing
      if (text !== '') advance()
      const needed = closing.tokens + (text === '' ? characterTokens : 0)
      if (hasFailed || needed <= tokensLeft) return true
      closing = before
      return false
    },
    skip(text) {
      unread += text
    },
    closing: () => closing,
  }
}
