import { expect, test } from 'vitest'
import { textBlocks } from './text-blocks.ts'

const specials = ['<|end|>', '<|end', '<|a b|>', '[MASK]', '']
const words = 'word '.repeat(10_000)
const withoutWords = 'x1'.repeat(75_000)

const cut = (text: string, { cutsWords = true, parseSpecial = true } = {}) => {
  const blocks = [...textBlocks(specials, { cutsWords })(text, parseSpecial)]
  expect(blocks.map((block) => block.text).join('')).toBe(text)
  return blocks
}

test('a text is cut before special tokens, into blocks of about 1,000 characters', () => {
  const blocks = cut(`${'word <|end|>'.repeat(10_000)} and <|endless`)
  expect(blocks.length).toBeGreaterThan(5)
  for (const { text, isContinuation } of blocks.slice(1)) {
    expect(text.startsWith('<|end|>')).toBe(true)
    expect(text.length).toBeLessThan(1100)
    expect(isContinuation).toBe(false)
  }
})

test('a long text is also cut between words and between lines', () => {
  for (const text of [words, `${'文字。\n'.repeat(10_000)}`]) {
    const blocks = cut(text)
    expect(blocks.length).toBeGreaterThan(1)
    for (const [index, block] of blocks.entries()) {
      expect(block.isContinuation).toBe(index > 0)
      expect(block.text.length).toBeLessThan(16 * 1024 + 10)
      if (index > 0) expect(block.text).toMatch(/^( word|文)/)
    }
  }
})

test('a special token is not cut, even if it contains words', () => {
  const text = `${'x'.repeat(16 * 1024)}<|a b|>${'x'.repeat(500)}`
  expect(cut(text).map((block) => block.text.length)).toEqual([16 * 1024, 507])
  const long = `${withoutWords.slice(0, 64 * 1024 - 3)}<|end|>${words}`
  expect(cut(long)[1]?.text.startsWith('<|end|>')).toBe(true)
})

test('a text without words is cut after 64 KiB, but not within a character', () => {
  expect(cut(withoutWords).map((block) => block.text.length)).toEqual([
    64 * 1024,
    64 * 1024,
    150_000 - 128 * 1024,
  ])
  for (const { text } of cut(`x${'🐟'.repeat(300_000)}`)) expect(text.isWellFormed()).toBe(true)
})

test('a text is not cut if it is short, has no special tokens, or only a mask', () => {
  expect(cut('')).toEqual([])
  expect(cut('two words')).toEqual([{ text: 'two words', isContinuation: false }])
  for (const text of [words, `${words}[MASK]`, withoutWords])
    expect(cut(text, { cutsWords: false })).toEqual([{ text, isContinuation: false }])
})

test('special tokens are text if they are not parsed', () => {
  const text = '<|end|>'.repeat(1000)
  expect(cut(text, { parseSpecial: false })).toEqual([{ text, isContinuation: false }])
})
