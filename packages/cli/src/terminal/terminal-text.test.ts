import { expect, test } from 'vitest'
import { toSentence } from './terminal-text.ts'

test.each([
  ['no model tiny', 'No model tiny.'],
  ['timeout: no answer', 'Timeout: no answer.'],
  ['fetch failed', 'Fetch failed.'],
  ['/home/ines/x.gguf is being pulled', '/home/ines/x.gguf is being pulled.'],
  ['home/ines is not a file', 'home/ines is not a file.'],
  ['model.gguf already exists', 'model.gguf already exists.'],
  ['shoal-nano is loaded', 'shoal-nano is loaded.'],
  ['top_p is too large', 'top_p is too large.'],
  ['“nano” is loaded', '“nano” is loaded.'],
  ["'nano' is loaded", "'nano' is loaded."],
  ['c:\\models is full', 'c:\\models is full.'],
  ['qwen3 is loaded', 'qwen3 is loaded.'],
])('“%s” becomes “%s”', (phrase, text) => {
  expect(toSentence(phrase)).toBe(text)
})
