/** The words of a text as both engines index them: in lower case without accents, only letters and digits. */
export function splitWords(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (folded.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, maxWordLength))
}

const maxWordLength = 64

/**
 * Whether `word` is one typo (one letter added, removed or changed, or two swapped) away from `term` or from its
 * beginning.
 */
export function isOneTypoAway(word: string, term: string): boolean {
  for (let length = word.length - 1; length <= word.length + 1; length += 1) {
    if (length <= term.length && isOneEditAway(word, term.slice(0, length))) return true
  }
  return false
}

function isOneEditAway(a: string, b: string): boolean {
  const [shorter, longer] = a.length <= b.length ? [a, b] : [b, a]
  let start = 0
  while (start < shorter.length && shorter[start] === longer[start]) start += 1
  const sliceRest = (text: string, skipped: number) => text.slice(start + skipped)
  if (shorter.length < longer.length) return sliceRest(shorter, 0) === sliceRest(longer, 1)
  const isSwap = shorter[start] === longer[start + 1] && shorter[start + 1] === longer[start]
  return (
    sliceRest(shorter, 1) === sliceRest(longer, 1) ||
    (isSwap && sliceRest(shorter, 2) === sliceRest(longer, 2))
  )
}
