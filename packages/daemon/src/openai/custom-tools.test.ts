/** Tests that the calls of custom tools, in chat completions and responses, have text as their input. */
import type OpenAI from 'openai'
import { expect, test } from 'vitest'
import {
  collectEvents,
  messagesOf,
  toolsOf,
  useScriptedOpenai,
} from '../testing/scripted-openai.ts'
import { toInput } from './custom-tools.ts'

const patch = '*** Begin Patch\n+"hi"\\\n*** End Patch'
const name = 'apply_patch'
const description = 'edits files'
const pieces = [
  { toolCall: { name, arguments: '{"inp' } },
  { argumentsDelta: `ut":${JSON.stringify(patch)}` },
  { argumentsDelta: '}' },
  { toolCall: { name: 'look', arguments: '{' } },
  { argumentsDelta: '}' },
]
const grammar = { syntax: 'lark' as const, definition: 'start: "*** Begin Patch"' }
const seen = {
  name,
  description: `${description}\n\nPass the whole input, as it is, in the parameter \`input\`.\n\nThe input must match this grammar, in lark syntax:\n${grammar.definition}`,
  parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
}
const models = { model: 'shoal-tiny' }

test('in chat completions', async () => {
  const { openai, asked } = await useScriptedOpenai(pieces)
  const format = { type: 'grammar' as const, grammar }
  const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    ...models,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [
      { type: 'custom', custom: { name, description, format } },
      { type: 'function', function: { name: 'look' } },
    ],
  }
  const { choices } = await openai.chat.completions.create(body)
  const [custom, call] = choices[0]?.message.tool_calls ?? []
  expect(custom).toMatchObject({ type: 'custom', custom: { name, input: patch } })
  expect(call).toMatchObject({ type: 'function', function: { name: 'look', arguments: '{}' } })
  expect(toolsOf(asked[0])[0]?.function).toMatchObject(seen)

  const deltas: unknown[] = []
  for await (const chunk of await openai.chat.completions.create({ ...body, stream: true })) {
    deltas.push(...(chunk.choices[0]?.delta.tool_calls ?? []))
  }
  expect(deltas).toEqual([
    { index: 0, id: expect.any(String), type: 'custom', custom: { name, input: '' } },
    { index: 0, custom: { input: patch } },
    expect.objectContaining({ index: 1, type: 'function' }),
    { index: 1, function: { arguments: '{' } },
    { index: 1, function: { arguments: '}' } },
  ])

  const id = custom?.id ?? ''
  await openai.chat.completions.create({
    ...body,
    messages: [
      ...body.messages,
      { role: 'assistant', tool_calls: [custom as OpenAI.ChatCompletionMessageToolCall] },
      { role: 'tool', tool_call_id: id, content: 'Done!' },
    ],
    tool_choice: { type: 'custom', custom: { name } },
  })
  const called = { name, arguments: JSON.stringify({ input: patch }) }
  expect(messagesOf(asked.at(-1)).slice(1)).toEqual([
    { role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: called }] },
    { role: 'tool', tool_call_id: id, content: 'Done!' },
  ])
})

test('in responses', async () => {
  const { openai, asked } = await useScriptedOpenai(pieces)
  const tools: OpenAI.Responses.Tool[] = [
    { type: 'custom', name, description, format: { type: 'grammar', ...grammar } },
    { type: 'function', name: 'look', parameters: null, strict: null },
  ]
  const body = { ...models, input: 'Hi', tools }
  const events = await collectEvents(await openai.responses.create({ ...body, stream: true }))
  const last = events.at(-1)
  if (last?.type !== 'response.completed') throw new Error('not completed')
  const [item, call] = last.response.output
  const id = expect.stringMatching(/^call_/)
  expect(item).toMatchObject({ type: 'custom_tool_call', call_id: id, name, input: patch })
  expect(call).toMatchObject({ type: 'function_call', name: 'look', arguments: '{}' })
  const types = events.map(({ type }) => type).filter((type) => /custom/.test(type))
  expect(types).toEqual([
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
  ])
  expect(toolsOf(asked[0])[0]?.function).toMatchObject(seen)

  const call_id = item?.type === 'custom_tool_call' ? item.call_id : ''
  await openai.responses.create({
    ...body,
    input: [{ type: 'custom_tool_call_output', call_id, output: 'Done!' }],
    previous_response_id: last.response.id,
    tool_choice: { type: 'custom', name },
  })
  expect(messagesOf(asked.at(-1)).slice(1)).toMatchObject([
    {
      role: 'assistant',
      tool_calls: [{ function: { name, arguments: JSON.stringify({ input: patch }) } }, {}],
    },
    { role: 'tool', tool_call_id: call_id, name, content: 'Done!' },
  ])
})

test('the input of a call that was cut off is the text so far', async () => {
  expect(toInput('{"input": "a\\n\\u00e9\\u00')).toBe('a\né')
  expect(toInput('{"inp')).toBe('')
  const { openai } = await useScriptedOpenai(pieces.slice(0, 1))
  const { output } = await openai.responses.create({
    ...models,
    input: 'Hi',
    tools: [{ type: 'custom', name }],
  })
  expect(output).toMatchObject([{ type: 'custom_tool_call', input: '', status: 'incomplete' }])
})

test("in responses, the client's search for tools is a tool, and the model gets the tools that it finds", async () => {
  const { openai, asked } = await useScriptedOpenai([
    { toolCall: { name: 'tool_search', arguments: '{"query":"calendar"}' } },
    { toolCall: { name: 'create_event', arguments: '{}' } },
  ])
  const tools = [
    { type: 'tool_search' as const, execution: 'client' as const, parameters: {} },
    { type: 'tool_search' as const },
    { type: 'function' as const, name: 'late', parameters: {}, strict: null, defer_loading: true },
  ]
  const found = {
    type: 'namespace' as const,
    name: 'calendar',
    description: '',
    tools: [{ type: 'function' as const, name: 'create_event' }],
  }
  const { output } = await openai.responses.create({
    ...models,
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'tool_search_call', call_id: 'x', execution: 'client', arguments: { query: 'a' } },
      { type: 'tool_search_output', call_id: 'x', execution: 'client', tools: [found] },
    ],
    tools,
  })
  expect(output).toMatchObject([
    { type: 'tool_search_call', execution: 'client', arguments: { query: 'calendar' } },
    { type: 'function_call', name: 'create_event', namespace: 'calendar' },
  ])
  expect(toolsOf(asked[0]).map(({ function: { name } }) => name)).toEqual([
    'tool_search',
    'late',
    'create_event',
  ])
  expect(messagesOf(asked[0]).slice(1)).toMatchObject([
    { tool_calls: [{ function: { name: 'tool_search', arguments: '{"query":"a"}' } }] },
    { role: 'tool', content: 'Found these tools: create_event' },
  ])
})
