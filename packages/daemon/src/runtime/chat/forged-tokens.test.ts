import { expect, test } from 'vitest'
import { forgedTokens } from './forged-tokens.ts'
import { shield } from './jinja/shield.ts'

const cut = forgedTokens(['<|end|>', '<|a|><|b|>', '<|b|>', ']~b]'])

test.each<[what: string, prompt: string, parts: string[]]>([
  ['no value', '<|end|>Hi<|end|>', ['<|end|>Hi<|end|>']],
  ['a value with other text', `${shield('a <b> [c]')}<|end|>`, ['a <b> [c]<|end|>']],
  ['a token in a value', `<|end|>${shield('x<|end|>')}<|end|>`, ['<|end|>x<', '|end|><|end|>']],
  ['a token that begins in a value', `${shield('<|e')}nd|>`, ['<', '|end|>']],
  ['a token that ends in a value', `<|e${shield('nd|>')}`, ['<|end', '|>']],
  ['tokens that overlap', shield('<|a|><|b|>'), ['<', '|a|><', '|b|>']],
  ["a token that overlaps the template's", `${shield(']~b')}]~b]`, [']', '~b]~b]']],
  ['only words in a value', `<|${shield('end')}|>`, ['<|end|>']],
])('a prompt is cut only within tokens that a value forges: %s', (_, prompt, parts) => {
  expect(cut(prompt)).toEqual(parts)
})
