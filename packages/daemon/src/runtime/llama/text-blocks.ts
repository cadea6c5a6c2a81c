import { markers } from '../chat/formats/markers.ts'

/** Part of a text. */
export type TextBlock = {
  text: string
  /** Whether the block follows other text. If not, it is at the beginning, or begins with a special token. */
  isContinuation: boolean
}

/** Tokenizing a block of 16 KiB takes about 10 ms. */
const defaultLengths = { minSpecialBlock: 1024, maxBlock: 16 * 1024, maxWord: 64 * 1024 }

/** Lengths in characters. */
export type BlockLengths = typeof defaultLengths

/**
 * Matches the end of the text before a position that no token spans: between two words, or between a line break and a
 * word.
 */
const wordEnd = /\p{L}(?= \p{L})|[\p{L}\p{P}]\n(?=\p{L})/u

/**
 * Returns a function that splits a text into blocks. The tokens of all blocks, joined in order, are the tokens of the
 * entire text.
 *
 * A text is split before special tokens. After each special token, llama.cpp searches the entire rest of the text for
 * the next one, so a text of one megabyte with 100,000 special tokens would take minutes. Split into blocks, it takes a
 * second. If `cutsWords` is set, a long text is also split between words, so that other work can be done between two
 * blocks. A text without words is split after `maxWord` characters, possibly within a token.
 */
export function textBlocks(
  specials: readonly string[],
  {
    cutsWords,
    lengths = defaultLengths,
  }: { cutsWords: boolean; lengths?: BlockLengths | undefined },
) {
  const { minSpecialBlock, maxBlock, maxWord } = lengths
  // A mask token may remove the spaces before it, which would be in the previous block.
  const { all, pattern } = markers(...specials.filter((special) => !/mask/i.test(special)))
  const everywhere = new RegExp(pattern, 'g')
  const longestSpecial = all.reduce((most, { length }) => Math.max(most, length), 0)

  return function* cut(text: string, parseSpecial: boolean): Generator<TextBlock> {
    let isContinuation = false
    for (let start = 0; start < text.length; ) {
      const end = cutsWords ? endOfBlock(text, start) : text.length
      const special = parseSpecial ? findSpecial(text, start, end) : undefined
      yield { text: text.slice(start, special ?? end), isContinuation }
      isContinuation = special === undefined
      start = special ?? end
    }
  }

  function endOfBlock(text: string, start: number): number {
    const atLeast = start + maxBlock
    if (text.length <= atLeast) return text.length
    const atMost = start + maxWord
    const hit = wordEnd.exec(text.slice(atLeast, atMost))
    if (hit) return atLeast + hit.index + hit[0].length
    const dividesCharacter = /[\uDC00-\uDFFF]/.test(text.charAt(atMost))
    return Math.min(dividesCharacter ? atMost - 1 : atMost, text.length)
  }

  /**
   * Returns the position of the first special token that is between `start` and `end` and is not too close to `start`.
   */
  function findSpecial(text: string, start: number, end: number): number | undefined {
    const part = text.slice(start, end + longestSpecial)
    for (const { index } of part.matchAll(everywhere)) {
      if (index >= end - start) return undefined
      if (index >= minSpecialBlock) return start + index
    }
    return undefined
  }
}
