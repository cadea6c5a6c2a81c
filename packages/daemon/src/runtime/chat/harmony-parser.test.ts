import { expect, test } from 'vitest'
import type { Piece } from '../runtime.ts'
import { harmonyParser } from './harmony-parser.ts'

/** The answer whole, and letter by letter: both have to come to the same. */
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

test('what it thinks, and what it says', () => {
  expect(
    parsed(
      '<|channel|>analysis<|message|>A < B.<|end|><|start|>assistant<|channel|>final<|message|>Yes: a <| b.',
    ),
  ).toEqual({ text: 'Yes: a <| b.', reasoning: 'A < B.', calls: [] })
})

test('a call of a tool, wherever its name stands', () => {
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

test('words before a call are for the user, and a head alone is nothing', () => {
  const text = '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>comm'
  expect(parsed(text)).toEqual({ text: 'I look.', reasoning: '', calls: [] })
})

test('an answer that is cut gives what there is', () => {
  expect(parsed('<|channel|>analysis<|message|>So lo')).toMatchObject({ reasoning: 'So lo' })
})
