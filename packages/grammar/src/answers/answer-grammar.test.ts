import { expect, test } from 'vitest'
import { matchesGbnf, parseGbnf } from '../testing/index.ts'
import { type AnswerSyntax, answerGrammar } from './answer-grammar.ts'

const schema = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/n' } },
  required: ['a'],
  additionalProperties: false,
  $defs: { n: { type: 'integer' } },
}
const reasoning = { open: '<think>', close: '</think>', isBegun: false, after: '' }
const plain: AnswerSyntax = {
  reasoning: undefined,
  before: '',
  form: { schema },
  bareCall: undefined,
  calls: [],
  callsInReasoning: [],
}

test.each<[text: string, syntax: Partial<AnswerSyntax>, isAllowed: boolean]>([
  ['{"a": 1}', {}, true],
  ['\n{"a": 1}', {}, false],
  ['\n{"a": 1}', { reasoning, calls: ['<call>'] }, false],
  ['\n<call>x', { calls: ['<call>'] }, true],
  ['{"b": 1}', { bareCall: { type: 'object', properties: { b: { const: 1 } } } }, true],
  ['<think>x</think>ab', { reasoning, form: { pattern: 'a.' } }, true],
  ['<think>x</think>abc', { reasoning, form: { pattern: 'a.' } }, false],
  ['<think>x</think>\nyes', { reasoning, form: { choices: ['yes', 'no'] } }, true],
  ['{"b": 1}', {}, false],
  ['<think>x</think>{"a": 1}', {}, false],
  ['<think>a < b </thin {"</think>\n\n{"a": 1}', { reasoning }, true],
  ['{"a": 1}', { reasoning }, true],
  ['<think>x', { reasoning }, false],
  ['<think>x</think>y{"a": 1}', { reasoning }, false],
  ['<think>x</think></think>{"a": 1}', { reasoning }, false],
  ['x</think>{"a": 1}', { reasoning: { ...reasoning, isBegun: true } }, true],
  ['{"a": 1}', { reasoning: { ...reasoning, isBegun: true } }, false],
  [
    'x</think><next><text>{"a": 1}',
    { reasoning: { ...reasoning, isBegun: true, after: '<next>' }, before: '<text>' },
    true,
  ],
  ['<text>{"a": 1}', { before: '<text>' }, true],
  ['{"a": 1}', { before: '<text>' }, false],
  ['<call>anything\n{"', { calls: ['<call>', '<f='] }, true],
  ['<think>x</think>\n<f=', { reasoning, calls: ['<call>', '<f='] }, true],
  ['<think>x<call>y', { reasoning, calls: ['<call>'] }, false],
  ['<think>x <call>y', { reasoning, callsInReasoning: ['<call>', '<f='] }, false],
  ['<think>x <call>\n<f=y', { reasoning, callsInReasoning: ['<call>', '<f='] }, true],
  ['</think>{"a": 1}', { reasoning }, true],
  ['text <call>', { calls: ['<call>'] }, false],
  ['{"a": 1}<call>', { calls: ['<call>'] }, false],
])('%j in %j is allowed: %s', (text, syntax, isAllowed) => {
  const grammar = parseGbnf(answerGrammar({ ...plain, ...syntax }))
  expect(matchesGbnf(grammar, text)).toBe(isAllowed)
})
