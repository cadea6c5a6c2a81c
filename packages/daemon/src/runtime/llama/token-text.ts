/**
 * Converts tokens to text one by one. If a character consists of several tokens, it is output when its last byte has
 * arrived.
 */
export function tokenText(detokenize: (tokens: number[], before: number[]) => string) {
  let pending: number[] = []
  let before: number[] = []

  function give(): string {
    const text = detokenize(pending, before)
    before = [...before, ...pending].slice(-contextTokens)
    pending = []
    return text
  }

  return {
    take(token: number): string {
      pending.push(token)
      const isUnfinished = detokenize(pending, before).endsWith(replacement)
      return isUnfinished && pending.length < maxCharacterBytes ? '' : give()
    },
    /** Call this after the last token. Returns the text of an incomplete character, if there is one. */
    finish: () => (pending.length > 0 ? give() : ''),
  }
}

export type TokenText = ReturnType<typeof tokenText>

const replacement = '\ufffd'
/** UTF-8 has at most four bytes per character, and each token has at least one byte. */
const maxCharacterBytes = 4
/** The number of preceding tokens passed to the detokenizer, because the text of a token may depend on them. */
const contextTokens = 8
