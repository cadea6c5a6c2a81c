/** Tests the items of a response and their events. */
import { expect, test } from 'vitest'
import {
  collectEvents,
  thoughtful,
  toolsOf,
  useScriptedOpenai,
} from '../testing/scripted-openai.ts'

const model = 'shoal-tiny'

test('reasoning, text and calls are separate items, with their own events', async () => {
  const { openai } = await useScriptedOpenai(thoughtful)
  const events = await collectEvents(
    await openai.responses.create({ model, input: 'Hi', stream: true }),
  )
  expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'reasoning_text.delta',
    'reasoning_text.delta',
    'reasoning_text.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'completed',
  ])
  const last = events.at(-1)
  const output = last?.type === 'response.completed' ? last.response.output : []
  expect(output).toMatchObject([
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    { type: 'message', content: [{ text: 'I look.' }] },
    {
      type: 'function_call',
      name: 'a',
      arguments: '{"x":1}',
      call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/), // many templates print it in the prompt
    },
    { type: 'function_call', name: 'b', arguments: '{"y":2}' },
  ])
  const added = events.flatMap((event) =>
    event.type === 'response.output_item.added' ? event : [],
  )
  expect(added.map(({ output_index }) => output_index)).toEqual([0, 1, 2, 3])
  expect(added.map(({ item }) => item.id)).toEqual(output.map(({ id }) => id))
})

test('a client that requests a summary of the reasoning gets the reasoning itself as the summary', async () => {
  const { openai } = await useScriptedOpenai(thoughtful)
  const reasoning = { effort: 'low' as const, summary: 'auto' as const }
  const body = { model, input: 'Hi', reasoning }
  const events = await collectEvents(await openai.responses.create({ ...body, stream: true }))
  expect(events.slice(2, 9).map(({ type }) => type.replace('response.', ''))).toEqual([
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
  ])
  const whole = await openai.responses.create(body)
  expect(whole.output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'Hm.' }] })
})

test('functions in a namespace can be called, and web search is left out, as Codex needs', async () => {
  const pieces = [
    { toolCall: { name: 'spawn', arguments: '{}' } },
    { toolCall: { name: 'run', arguments: '{}' } },
  ]
  const { openai, asked } = await useScriptedOpenai(pieces)
  const named = (name: string) => ({
    type: 'function' as const,
    name,
    parameters: {},
    strict: false,
  })
  const tools = [
    named('run'),
    {
      type: 'namespace' as const,
      name: 'agents',
      description: 'sub-agents',
      tools: [named('spawn')],
    },
    { type: 'web_search' as const },
  ]
  const response = await openai.responses.create({ model, input: 'Hi', tools })
  expect(toolsOf(asked[0]).map(({ function: { name } }) => name)).toEqual(['run', 'spawn'])
  expect(response.output).toMatchObject([
    { type: 'function_call', name: 'spawn', namespace: 'agents' },
    { type: 'function_call', name: 'run' },
  ])
  expect(response.output[1]).not.toHaveProperty('namespace')
  expect(response.tools.map(({ type }) => type)).toEqual(['function', 'namespace'])
})

test('the number of functions is limited, including those in namespaces', async () => {
  const { openai } = await useScriptedOpenai(thoughtful)
  const functions = (from: number) =>
    Array.from({ length: 600 }, (_, index) => ({
      ...{ type: 'function' as const, name: `f${from + index}`, parameters: {}, strict: false },
    }))
  const namespace = { type: 'namespace' as const, description: '' }
  const tools = [0, 600].map((from) => ({ ...namespace, name: `n${from}`, tools: functions(from) }))
  await expect(openai.responses.create({ model, input: 'Hi', tools })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('more than 1024 functions'),
  })
})

test('two functions with the same name are refused, because their calls could not be told apart', async () => {
  const { openai } = await useScriptedOpenai(thoughtful)
  const look = { type: 'function' as const, name: 'look', parameters: {}, strict: false }
  const tools = [look, { type: 'namespace' as const, name: 'sea', description: '', tools: [look] }]
  await expect(openai.responses.create({ model, input: 'Hi', tools })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('two functions named look'),
  })
})
