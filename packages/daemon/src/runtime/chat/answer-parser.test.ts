import { expect, test } from 'vitest'
import { joinCalls, tool } from '../../testing/generations.ts'
import { promptsOf } from '../../testing/prompts-of.ts'
import type { Piece } from '../runtime.ts'
import { type AnswerParser, answerParser } from './answer-parser.ts'

const formatOf = async (template: string) => (await promptsOf(template)).format
const qwen = await formatOf('{{ tools }} {# <tool_call> <think> </think> #}')
const llama = await formatOf('{{ tools }} {# {"name": x, "parameters": y} <|python_tag|> #}')
const mistral = await formatOf('{{ tools }} {# [TOOL_CALLS] #}')
const tools = ['a', 'b', 'write'].map((name) => tool(name, { type: 'object' }))

type Options = Partial<Parameters<typeof answerParser>[1]> & { begun?: string }

/** Parses the answer at once and character by character. The two results must be equal. */
function parsed(format: typeof qwen, text: string, { begun = '', ...options }: Options = {}) {
  const ways = [[text], [...text]].map((parts) => {
    const parser = answerParser(format, { tools, ...options })
    return together([begun, ...parts].flatMap((part) => parser.take(part)).concat(parser.finish()))
  })
  expect(ways[0]).toEqual(ways[1])
  return ways[0]
}

function together(pieces: Piece[]) {
  const join = (key: 'text' | 'reasoning') => pieces.map((piece) => piece[key] ?? '').join('')
  return { text: join('text'), reasoning: join('reasoning'), calls: joinCalls(pieces) }
}

/** Parses the complete answer, character by character. */
function stream(parser: AnswerParser, text: string): Piece[] {
  return [...[...text].flatMap((letter) => parser.take(letter)), ...parser.finish()]
}

test('plain text is not changed', () => {
  const text = 'Hello <b>, <think is no mark, {"a": 1} neither.\n'
  expect(parsed(qwen, text)).toEqual({ text, reasoning: '', calls: [] })
})

test('reasoning before the text is separated from the text', () => {
  expect(parsed(qwen, '<think>\nHm <x>.\n</think>\n\nYes.')).toEqual({
    text: 'Yes.',
    reasoning: 'Hm <x>.',
    calls: [],
  })
  expect(parsed(qwen, 'Hm.</think>Yes.', { begun: '<think>\n' })).toMatchObject({
    text: 'Yes.',
    reasoning: 'Hm.',
  })
  expect(parsed(qwen, 'never ends', { begun: '<think>' })).toMatchObject({
    reasoning: 'never ends',
  })
})

test('several calls in tags are recognized after text', () => {
  const one = '<tool_call>\n{"name": "a", "arguments": {"x": "}</tool"}}\n</tool_call>'
  const two = '<tool_call>{"name": "b", "arguments": {}}</tool_call>'
  expect(parsed(qwen, `<think>1</think>I look.\n${one}\n${two}\n`)).toEqual({
    text: 'I look.\n',
    reasoning: '1',
    calls: [
      { name: 'a', arguments: '{"x": "}</tool"}' },
      { name: 'b', arguments: '{}' },
    ],
  })
})

test('text that only resembles a call remains text', () => {
  const text = '<tool_call>not json</tool_call>'
  expect(parsed(qwen, text)).toMatchObject({ text, calls: [] })
  expect(parsed(qwen, '<tool_call>{"name": ')).toMatchObject({ text: '<tool_call>{"name": ' })
})

test("in Llama's format, an answer that is an object without tags is a call", () => {
  expect(parsed(llama, '{"name": "a", "parameters": {"x": 1}}')).toMatchObject({
    text: '',
    calls: [{ name: 'a', arguments: '{"x": 1}' }],
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

const forced = { begun: '<tool_call>', isForced: true }

test('if a forced call is cut off, its arguments so far are returned', () => {
  expect(parsed(qwen, '{"name": "a", "arguments": {"x": [1', forced)).toEqual({
    text: '',
    reasoning: '',
    calls: [{ name: 'a', arguments: '{"x": [1' }],
  })
  expect(parsed(qwen, '{ "na', forced)).toMatchObject({ text: '', calls: [] })
})

test("calls in both of Mistral's formats are recognized", () => {
  const named = '[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[CALL_ID]123[ARGS]{}'
  expect(parsed(mistral, named)?.calls).toEqual([
    { name: 'a', arguments: '{"x": 1}' },
    { name: 'b', arguments: '{}' },
  ])
  expect(parsed(mistral, '[TOOL_CALLS]{"name": "a", "arguments": {}}')?.calls).toHaveLength(1)
})

test('arguments are streamed as they arrive, once the name is certain', () => {
  const parser = answerParser(qwen, { tools })
  expect(parser.take('<tool_call>{"name": "a", "argu')).toEqual([])
  expect(parser.take('ments": {"x')).toEqual([{ toolCall: { name: 'a', arguments: '{"x' } }])
  expect(parser.take('": 1}')).toEqual([{ argumentsDelta: '": 1}' }])
  expect(parser.take('}')).toEqual([])
})

test('the maximum number of calls is reached when the last one is complete', () => {
  const parser = answerParser(qwen, { tools, maxCalls: 1 })
  parser.take('<tool_call>{"name": "a", "arguments": {')
  expect(parser.hasEnough()).toBe(false)
  parser.take('}}')
  expect(parser.hasEnough()).toBe(true)
  const rest = stream(parser, '</tool_call><tool_call>{"name": "b", "arguments": {}}</tool_call>')
  expect(together(rest).calls).toEqual([])
  expect(parser.callCount()).toBe(1)
})

test('reasoning can remain in the text, with its markers', () => {
  const text = '\nHm.\n</think>\n\nYes.'
  expect(parsed(qwen, text, { begun: '<think>', keepsReasoning: true })).toMatchObject({
    text: `<think>${text}`,
    reasoning: '',
  })
  expect(parsed(qwen, '<think>\n</think>Yes.', { keepsReasoning: true })?.text).toBe('Yes.')
})

test('white space around reasoning is dropped, and white space within it is kept', () => {
  expect(parsed(qwen, '<think> a\n\nb \n</think> c \n')).toMatchObject({
    reasoning: 'a\n\nb',
    text: 'c \n',
  })
})

test('without a format, everything is text', () => {
  const text = ' <think><tool_call>{"name": "a", "arguments": {}}</tool_call>'
  const parser = answerParser(undefined, { tools: [] })
  expect(together(stream(parser, text))).toEqual({ text, reasoning: '', calls: [] })
})

test('without tools there are no calls', () => {
  const parser = answerParser(qwen, { tools: [] })
  const text = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
  expect(together([...parser.take(text), ...parser.finish()])).toMatchObject({ text, calls: [] })
})

test('in an answer that must be JSON, calls are recognized only at its beginning', () => {
  const call = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
  const json = JSON.stringify({ text: `<think>${call}</think>` })
  const calls = [{ name: 'a', arguments: '{}' }]
  const isBound = true
  expect(parsed(qwen, json, { isBound })).toEqual({ text: json, reasoning: '', calls: [] })
  expect(parsed(qwen, `<think>b</think>\n\n${json}`, { isBound })).toEqual({
    text: json,
    reasoning: 'b',
    calls: [],
  })
  expect(parsed(qwen, `b</think>\n${call}\n${call}`, { isBound, begun: '<think>' })).toEqual({
    text: '',
    reasoning: 'b',
    calls: [...calls, ...calls],
  })
  const bare = '{"name": "a", "parameters": {}}'
  expect(parsed(llama, bare, { isBound })).toEqual({ text: '', reasoning: '', calls })
  expect(parsed(llama, '{"name": "c"}', { isBound })?.text).toBe('{"name": "c"}')
})

test('reasoning before a forced call is kept, but not text', () => {
  const text = 'b</think>\n\nHm<tool_call>{"name": "a", "arguments": {}}</tool_call>'
  expect(parsed(qwen, text, { isForced: true, begun: '<think>' })).toEqual({
    text: '',
    reasoning: 'b',
    calls: [{ name: 'a', arguments: '{}' }],
  })
})
