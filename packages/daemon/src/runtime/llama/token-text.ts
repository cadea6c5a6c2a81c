/**
 * Turns tokens into text one by one. A character may be spread over several tokens: until its last byte is there nothing of
 * it is given on.
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
    /** What is left when no token comes any more: the pieces of a character that was never finished. */
    finish: () => (pending.length > 0 ? give() : ''),
  }
}

const replacement = '\ufffd'
/** UTF-8 has at most four bytes to a character, and a token at least one. */
const maxCharacterBytes = 4
/** Some tokenizers write a token by what stands before it. */
const contextTokens = 8
