import { expect, test } from 'vitest'
import { textBlocks } from './text-blocks.ts'

const specials = ['<|end|>', '<|end', '[MASK]', '']

test('a text is cut before special tokens, into blocks of about 1,000 characters', () => {
  const text = `${'word <|end|>'.repeat(10_000)} and <|endless`
  const blocks = textBlocks(specials)(text)
  expect(blocks.join('')).toBe(text)
  expect(blocks.length).toBeGreaterThan(5)
  for (const block of blocks.slice(1)) expect(block.startsWith('<|end|>')).toBe(true)
  for (const block of blocks) expect(block.length).toBeLessThan(1100)
})

test('a text is not cut if it has no special tokens, or only a mask', () => {
  const plain = 'word '.repeat(10_000)
  expect(textBlocks(specials)(plain)).toEqual([plain])
  expect(textBlocks([])(plain)).toEqual([plain])
  const masked = `${plain}[MASK]`
  expect(textBlocks(specials)(masked)).toEqual([masked])
  expect(textBlocks(specials)('')).toEqual([''])
})
