/**
 * Converts tokens to text one by one. A character may be spread over several tokens: nothing of it is output until its
 * last byte is there.
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
    /** The rest at the end: the bytes of an unfinished character. */
    finish: () => (pending.length > 0 ? give() : ''),
  }
}

const replacement = '\ufffd'
/** UTF-8 has at most four bytes per character, and a token at least one. */
const maxCharacterBytes = 4
/** Some tokenizers write a token differently depending on what precedes it. */
const contextTokens = 8
