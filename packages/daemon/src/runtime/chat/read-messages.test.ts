import { expect, test } from 'vitest'
import type { Piece } from '../runtime.ts'
import { harmonyParser } from './harmony-parser.ts'

/** Parses the answer in one piece and letter by letter. Both results must be the same. */
function parsed(text: string) {
  const ways = [[text], [...text]].map((parts) => {
    const parser = harmonyParser()
    const pieces: Piece[] = [...parts.flatMap((part) => parser.take(part)), ...parser.finish()]
    const join = (key: 'text' | 'reasoning') => pieces.map((piece) => piece[key] ?? '').join('')
    const calls = pieces.flatMap(({ toolCall }) => toolCall ?? [])
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
  ).toEqual({ text: 'Yes: a <| b.', reasoning: 'A < B.', calls: [] })
})

test('a tool call is recognized wherever its name is in the header', () => {
  const body = '<|constrain|>json<|message|>{"x": 1}<|call|>'
  const after = `<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary to=functions.add ${body}`
  expect(parsed(after)).toEqual({
    text: '',
    reasoning: 'Hm',
    calls: [{ name: 'add', arguments: '{"x": 1}' }],
  })
  const before = `<|start|>assistant to=functions.add<|channel|>commentary ${body}`
  expect(parsed(before)?.calls).toEqual([{ name: 'add', arguments: '{"x": 1}' }])
})

test('text before a call is part of the answer, and a header without a message is dropped', () => {
  const text = '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>comm'
  expect(parsed(text)).toEqual({ text: 'I look.', reasoning: '', calls: [] })
})

test('if an answer is cut off, the part so far is returned', () => {
  expect(parsed('<|channel|>analysis<|message|>So lo')).toMatchObject({ reasoning: 'So lo' })
})
