import { expect, test } from 'vitest'
import { tool } from '../../testing/generations.ts'
import { promptsOf } from '../../testing/prompts-of.ts'
import type { Piece } from '../runtime.ts'
import { answerParser } from './answer-parser.ts'

const { format } = await promptsOf('{{ tools }}{# <|channel|> <|message|> #}')
const tools = [tool('add', { type: 'object' })]

/** Parses the answer at once and character by character. The two results must be equal. */
function parsed(text: string, options: Partial<Parameters<typeof answerParser>[1]> = {}) {
  const ways = [[text], [...text]].map((parts) => {
    const parser = answerParser(format, { tools, ...options })
    const pieces: Piece[] = [...parts.flatMap((part) => parser.take(part)), ...parser.finish()]
    const join = (key: 'text' | 'reasoning') => pieces.map((piece) => piece[key] ?? '').join('')
    const calls = pieces
      .map(({ toolCall, argumentsDelta = '' }) =>
        toolCall ? `${toolCall.name} ${toolCall.arguments}` : argumentsDelta,
      )
      .join('')
    return { text: join('text'), reasoning: join('reasoning'), calls }
  })
  expect(ways[0]).toEqual(ways[1])
  return ways[0]
}

test('reasoning is separated from text', () => {
  expect(
    parsed(
      '<|channel|>analysis<|message|>A < B.<|end|><|start|>assistant<|channel|>final<|message|>Yes: a <| b.',
    ),
  ).toEqual({ text: 'Yes: a <| b.', reasoning: 'A < B.', calls: '' })
})

test('a tool call is recognized wherever its name is in the header', () => {
  const body = '<|constrain|>json<|message|>{"x": 1}<|call|>'
  const after = `<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary to=functions.add ${body}`
  expect(parsed(after)).toEqual({
    text: '',
    reasoning: 'Hm',
    calls: 'add {"x": 1}',
  })
  const before = `<|start|>assistant to=functions.add<|channel|>commentary ${body}`
  expect(parsed(before)?.calls).toBe('add {"x": 1}')
})

test('text before a call is part of the answer, and a header without a message is dropped', () => {
  const text = '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>comm'
  expect(parsed(text)).toEqual({ text: 'I look.', reasoning: '', calls: '' })
})

test('if an answer is cut off, the part so far is returned', () => {
  expect(parsed('<|channel|>analysis<|message|>So lo')).toMatchObject({ reasoning: 'So lo' })
})

test('a message to an unknown tool is dropped', () => {
  const text = '<|channel|>commentary to=python<|message|>print(1)<|call|>'
  expect(parsed(text)).toEqual({ text: '', reasoning: '', calls: '' })
})

test('a forced call is JSON without a recipient', () => {
  const text =
    '<|channel|>commentary <|constrain|>json<|message|>{"name": "add", "arguments": {"x": 1}}'
  expect(parsed(text, { isForced: true })).toMatchObject({ text: '', calls: 'add {"x": 1}' })
})

test('reasoning can remain in the text, with its header', () => {
  const text =
    '<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.'
  expect(parsed(text, { keepsReasoning: true })?.text).toBe(
    '<|channel|>analysis<|message|>Hm<|end|>Yes.',
  )
})
