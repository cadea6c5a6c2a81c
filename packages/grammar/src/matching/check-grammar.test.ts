import { expect, test } from 'vitest'
import { matchesGbnf } from '../testing/gbnf.ts'
import { checkGrammar } from './check-grammar.ts'
import { parseGbnf } from './gbnf-parser.ts'

test('all of GBNF is understood', () => {
  const grammar = `
# comments and line breaks
root ::= # after the arrow
  "<" (word
    | Num-2 "\\n"?
  )+ ">" | [^a-z\\]]{2,3} .{1} |
  "\\x41\\u00e4\\U0001F600\\"\\\\"{0}
word ::= [a-cä]{2} # comment
Num-2 ::= [0-9]{1,}
`
  expect(() => checkGrammar(grammar)).not.toThrow()
  const texts = ['<ab12\n>', '<ää>', '<>', '12ä', '1]x', 'ab1', 'Aä😀"', '123\n']
  const matches = texts.filter((text) => matchesGbnf(parseGbnf(grammar), text))
  expect(matches).toEqual(['<ab12\n>', '<ää>', '12ä', 'Aä😀"', '123\n'])
})

test.each([
  ['root ::= "a', 'line 1: the rule does not end before "\\"a"'],
  ['root ::= "a"\nroot ::= "b"', 'there are two rules root'],
  ['root ::= "a"\n| "b"', 'line 2: a rule must begin with its name and ::='],
  ['a ::= "a"', 'there is no rule root'],
  ['root ::= missing', 'there is no rule missing'],
  ['root ::= ("a"', 'a closing parenthesis is missing'],
  ['root ::= <[5]>', 'the rule does not end before "<[5]>"'],
  ['root ::= "a"{2001}', 'more than 2000 repetitions'],
  [`root ::= ${'('.repeat(201)}"a"${')'.repeat(201)}`, 'nested more than 200 levels'],
  ['root ::= "\\q"', 'unknown escape \\q'],
  ['root ::= x "a"\nx ::= y?\ny ::= "b"* root', 'the rule root begins with itself'],
])('a grammar is refused: %#', (grammar, reason) => {
  expect(() => checkGrammar(grammar)).toThrow(reason)
})

test('a grammar that matches a text in too many ways is refused', () => {
  const grammar = `root ::= ${'[a-z]* '.repeat(4)}`
  expect(() => checkGrammar(grammar, 3)).toThrow('more than 3 ways')
  expect(() => checkGrammar(grammar)).not.toThrow()
})
