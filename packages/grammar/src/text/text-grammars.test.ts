import { expect, test } from 'vitest'
import { parseGbnf } from '../matching/gbnf-parser.ts'
import { matchesGbnf } from '../testing/gbnf.ts'
import { choiceGrammar, patternGrammar } from './text-grammars.ts'

const allowed = (grammar: string, texts: string[]) => {
  const rules = parseGbnf(grammar)
  return texts.filter((text) => matchesGbnf(rules, text))
}

test('a regular expression must match the entire text, and only if it can be enforced', () => {
  const address = patternGrammar('\\d{1,3}(\\.\\d{1,3}){3}|localhost')
  const texts = ['127.0.0.1', 'localhost', '127.0.0', 'a127.0.0.1', '127.0.0.1 ', '']
  expect(allowed(address, texts)).toEqual(['127.0.0.1', 'localhost'])
  expect(allowed(patternGrammar('^"a\\nb"$'), ['"a\nb"', 'a\nb'])).toEqual(['"a\nb"'])
  expect(() => patternGrammar('(?<=a)b')).toThrow('pattern cannot be enforced: it has a lookbehind')
  expect(() => patternGrammar('a$b')).toThrow('no text matches it')
})

test('a list of choices allows exactly these texts', () => {
  const colors = ['red', 'green', 'red-green', '"blue"', 'ä\n']
  expect(allowed(choiceGrammar(colors), [...colors, 'blue', 're', 'redgreen', ''])).toEqual(colors)
})
