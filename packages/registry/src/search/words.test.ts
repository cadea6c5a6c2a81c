import { expect, test } from 'vitest'
import { splitQuery, splitWords } from './words.ts'

test.each([
  ['Qwen2.5-Coder-7B', 'qwen 2.5 coder 7b'],
  ['qwen-2-5-coder-7b', 'qwen 2.5 coder 7b'],
  ['Llama 3.3 70B', 'llama 3.3 70b'],
  ['llama-3-8b', 'llama 3 8b'],
  ['llama3', 'llama 3'],
  ['mistral-7b-v0.3', 'mistral 7b 0.3'],
  ['TinyLlama 1.1B', 'tinyllama 1.1b'],
  ['gemma-2-2b-it', 'gemma 2 2b it'],
  ['mixtral 8x7b', 'mixtral 8x7b'],
  ['deepseek-r1-0528', 'deepseek r1 0528'],
  ['bge-m3', 'bge m3'],
  ['Ünïcode 日本語', 'unicode 日本語'],
  ['"%_\\\' (*', ''],
])('%j has the words %j', (text, words) => {
  expect(splitWords(text).join(' ')).toBe(words)
})

test('duplicate words are removed from a query, and so are filler words, unless it has only filler words', () => {
  expect(splitQuery('a small model for the small things')).toEqual(['small', 'things'])
  expect(splitQuery('The model')).toEqual(['the', 'model'])
})

test('only the first 12 words of a query are used', () => {
  const text = Array.from({ length: 5_000 }, (_, at) => `w${at}x`).join(' ')
  expect(splitQuery(text)).toHaveLength(12)
})
