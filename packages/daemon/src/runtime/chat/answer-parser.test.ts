import { expect, test } from 'vitest'
import type { Piece } from '../runtime.ts'
import { detectAnswerFormat } from './answer-format.ts'
import { type AnswerState, answerParser } from './answer-parser.ts'

const qwen = detectAnswerFormat('{{ tools }} <tool_call> <think>')
const llama = detectAnswerFormat('{{ tools }} {"name": x, "parameters": y}')
const mistral = detectAnswerFormat('{{ tools }} [TOOL_CALLS]')

/** Parses the answer in one piece and letter by letter. Both results must be the same. */
function parsed(format: typeof qwen, text: string, beginsIn: AnswerState = 'start') {
  const ways = [[text], [...text]].map((parts) => {
    const parser = answerParser(format, { beginsIn, toolNames: ['a', 'b', 'write'] })
    const pieces = [...parts.flatMap((part) => parser.take(part)), ...parser.finish()]
    return together(pieces)
  })
  expect(ways[0]).toEqual(ways[1])
  return ways[0]
}

function together(pieces: Piece[]) {
  const join = (key: 'text' | 'reasoning') => pieces.map((piece) => piece[key] ?? '').join('')
  return {
    text: join('text'),
    reasoning: join('reasoning'),
    calls: pieces.flatMap(({ toolCall }) => toolCall ?? []),
  }
}

test('plain text is not changed', () => {
  const text = 'Hello <b>, <think is no mark, {"a": 1} neither.\n'
  expect(parsed(qwen, text)).toEqual({ text, reasoning: '', calls: [] })
})

test('reasoning before the answer is not part of the answer', () => {
  expect(parsed(qwen, '<think>\nHm <x>.\n</think>\n\nYes.')).toEqual({
    text: 'Yes.',
    reasoning: 'Hm <x>.\n',
    calls: [],
  })
  expect(parsed(qwen, 'Hm.</think>Yes.', 'reasoning')).toMatchObject({
    text: 'Yes.',
    reasoning: 'Hm.',
  })
  expect(parsed(qwen, 'never ends', 'reasoning')).toMatchObject({ reasoning: 'never ends' })
})

test('several calls in tags, after text', () => {
  const one = '<tool_call>\n{"name": "a", "arguments": {"x": "}</tool"}}\n</tool_call>'
  const two = '<tool_call>{"name": "b", "arguments": {}}</tool_call>'
  expect(parsed(qwen, `<think>1</think>I look.\n${one}\n${two}\n`)).toEqual({
    text: 'I look.\n',
    reasoning: '1',
    calls: [
      { name: 'a', arguments: '{"x":"}</tool"}' },
      { name: 'b', arguments: '{}' },
    ],
  })
})

test("calls in the format of Qwen's coding models", () => {
  const call =
    '<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>'
  expect(parsed(qwen, call)?.calls).toEqual([
    { name: 'write', arguments: '{"path":"a.txt","lines":3}' },
  ])
})

test('text that only resembles a call remains text', () => {
  const text = '<tool_call>not json</tool_call>'
  expect(parsed(qwen, text)).toMatchObject({ text, calls: [] })
  expect(parsed(qwen, '<tool_call>{"name": ')).toMatchObject({ text: '<tool_call>{"name": ' })
})

test('a call that is an object without tags, as in Llama', () => {
  expect(parsed(llama, '{"name": "a", "parameters": {"x": 1}}')).toMatchObject({
    text: '',
    calls: [{ name: 'a', arguments: '{"x":1}' }],
  })
  expect(parsed(llama, '<|python_tag|>{"name": "a", "parameters": {}}')?.calls).toHaveLength(1)
  expect(parsed(llama, '{"just": "json"}')).toMatchObject({ text: '{"just": "json"}', calls: [] })
  expect(parsed(llama, 'Hello {"name": "a"}')).toMatchObject({ calls: [] })
})

test('an object with the name of an undeclared tool is not a call', () => {
  const text = '{"name": "Ann", "age": 3}'
  expect(parsed(llama, text)).toMatchObject({ text, calls: [] })
  expect(parsed(llama, '{"name": "a", "parameters": 5}')).toMatchObject({ calls: [] })
  expect(parsed(qwen, '<tool_call>{"name": "c", "arguments": {}}</tool_call>')).toMatchObject({
    calls: [],
  })
})

test('if a forced call is cut off, the part so far is returned', () => {
  expect(parsed(qwen, '{"name": "a", "arguments": {"x": [1', 'call')).toEqual({
    text: '',
    reasoning: '',
    calls: [{ name: 'a', arguments: '{"x": [1' }],
  })
  expect(parsed(qwen, '{ "na', 'call')).toMatchObject({ text: '', calls: [] })
})

test('calls in both formats of Mistral', () => {
  const list = '[TOOL_CALLS][{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]'
  expect(parsed(mistral, list)?.calls.map(({ name }) => name)).toEqual(['a', 'b'])
  const named = '[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[ARGS]{}'
  expect(parsed(mistral, named)?.calls).toEqual([
    { name: 'a', arguments: '{"x": 1}' },
    { name: 'b', arguments: '{}' },
  ])
})

test('without tools there are no calls', () => {
  const parser = answerParser(qwen, { beginsIn: 'text', toolNames: [] })
  const text = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
  expect(together([...parser.take(text), ...parser.finish()])).toMatchObject({ text, calls: [] })
})
