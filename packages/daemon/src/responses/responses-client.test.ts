/** Tests the Responses API with OpenAI's official client, using a daemon with the demo model and scripted models. */
import type OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { collectEvents, connectOpenai, useScriptedOpenai } from '../testing/scripted-openai.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let openai: OpenAI
beforeAll(async () => {
  daemon = await startTestDaemon()
  openai = connectOpenai(daemon.url)
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'
const answer = 'Hello! How can I help you?'
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'the weather of a city',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { enum: ['Lisbon', 'Oslo'] } },
    required: ['city'],
    additionalProperties: false,
  },
}

test('the input may be a text or a list of items', async () => {
  const response = await openai.responses.create({ model, input: 'Hello', temperature: 0 })
  expect(response).toMatchObject({
    id: expect.stringMatching(/^resp_[0-9a-f]{64}$/),
    object: 'response',
    status: 'completed',
    incomplete_details: null,
    error: null,
    model,
    temperature: 0,
    output_text: answer,
    output: [
      {
        id: expect.stringMatching(/^msg_[0-9a-f]{64}$/),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: answer, annotations: [], logprobs: [] }],
      },
    ],
    usage: { input_tokens: 9, input_tokens_details: { cache_write_tokens: 0 } },
  })
  const { usage } = response
  expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0))
  const input: ResponseInput = [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }]
  const listed = await openai.responses.create({ model, input, temperature: 0 })
  expect(listed.output_text).toBe(answer)
})

test('the events of a stream are numbered and in order', async () => {
  const stream = await openai.responses.create({
    model,
    input: 'Hello',
    temperature: 0,
    stream: true,
  })
  const events = await collectEvents(stream)
  const types = events.map(({ type }) => type)
  expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
    events.map((_, index) => index),
  )
  const text = events.map((event) =>
    event.type === 'response.output_text.delta' ? event.delta : '',
  )
  expect(text.join('')).toBe(answer)
  expect(events[0]).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } })
  expect(events.at(-1)).toMatchObject({
    response: { status: 'completed', usage: { input_tokens: 9 } },
  })
  const final = openai.responses.stream({ model, input: 'Hello', temperature: 0 })
  expect((await final.finalResponse()).output_text).toBe(answer)
})

test('each event of a stream has a line with its type, and nothing follows the last one', async () => {
  const response = await postJson(`${daemon.url}/v1/responses`, {
    model,
    input: 'Hello',
    stream: true,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const events = (await response.text()).split('\n\n')
  expect(events.pop()).toBe('')
  for (const event of events) {
    const [, type, data = ''] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? []
    expect(JSON.parse(data).type).toBe(type)
  }
  expect(events.at(-1)).toContain('event: response.completed')
})

test('an answer that is cut off has the status incomplete, with and without streaming', async () => {
  const body = { model, input: 'Tell me a story', max_output_tokens: 3 }
  const response = await openai.responses.create(body)
  const incomplete = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' }],
    usage: { output_tokens: 3 },
  }
  expect(response).toMatchObject(incomplete)
  const events = await collectEvents(await openai.responses.create({ ...body, stream: true }))
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete })
})

test('an answer matches the requested JSON schema', async () => {
  const schema = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }
  const response = await openai.responses.create({
    model,
    input: 'Hello',
    text: { format: { type: 'json_schema', name: 'x', schema } },
  })
  expect(JSON.parse(response.output_text)).toEqual({ yes: expect.any(Boolean) })
  expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'x', schema })
})

test('log probabilities are returned on request', async () => {
  const response = await openai.responses.create({
    model,
    input: 'Hello',
    temperature: 0,
    include: ['message.output_text.logprobs'],
    top_logprobs: 2,
  })
  const [item] = response.output
  const part = item?.type === 'message' ? item.content[0] : undefined
  const logprobs = part?.type === 'output_text' ? (part.logprobs ?? []) : []
  expect(logprobs.map(({ token }) => token).join('')).toBe(answer)
  expect(logprobs[0]?.top_logprobs).toHaveLength(2)
})

test('a forced call matches the schema, and the model can answer after the output of the call', async () => {
  const input: ResponseInput = [{ role: 'user', content: 'Hello' }]
  const tools = [weather]
  const first = await openai.responses.create({ model, input, tools, tool_choice: 'required' })
  const [call] = first.output
  if (call?.type !== 'function_call') throw new Error('no call')
  expect(call).toMatchObject({ name: 'weather', status: 'completed' })
  expect(['Lisbon', 'Oslo']).toContain(JSON.parse(call.arguments).city)
  const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' }
  const next = await openai.responses.create({
    model,
    input: [...input, call, output],
    tools,
    tool_choice: 'none',
  })
  expect(next.output[0]?.type).toBe('message')
})

test('the model gets only the allowed tools, and a leading developer message as part of the system message', async () => {
  const { openai, asked } = await useScriptedOpenai([{ text: 'Hello' }])
  await openai.responses.create({
    model,
    instructions: 'Be brief',
    input: [
      { role: 'developer', content: 'Be exact' },
      { role: 'user', content: 'Hi' },
    ],
    tools: [weather, { ...weather, name: 'other' }],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'weather' }],
    },
    reasoning: { effort: 'high' },
  })
  expect(asked[0]?.prompt).toMatchObject({
    chat: {
      messages: [
        { role: 'system', content: 'Be brief\n\nBe exact' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [{ function: { name: 'weather' } }],
      toolChoice: 'auto',
      variables: { enable_thinking: true, reasoning_effort: 'high' },
    },
  })
})

test('unsupported parameters are accepted if they are false or null', async () => {
  const { openai } = await useScriptedOpenai([{ text: 'Hello' }])
  const off = { background: false, conversation: null, max_tool_calls: null }
  const { status } = await openai.responses.create({ model, input: 'Hi', ...off })
  expect(status).toBe('completed')
})
