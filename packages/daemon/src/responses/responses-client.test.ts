/** Tests OpenAI's official client of the Responses API with a real daemon and the demo model, and with scripted models. */
import OpenAI, { APIError } from 'openai'
import type { ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Generation, Piece, StartRuntime } from '../runtime/runtime.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon, useTestDaemon } from '../testing/test-daemon.ts'

const connect = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let openai: OpenAI
beforeAll(async () => {
  daemon = await startTestDaemon()
  openai = connect(daemon.url)
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

async function collect(stream: AsyncIterable<ResponseStreamEvent>) {
  const events = []
  for await (const event of stream) events.push(event)
  return events
}

/** Runs a daemon with a scripted model, and records what is asked of the model. */
async function useScripted(pieces: Piece[]) {
  const asked: Generation[] = []
  const start: StartRuntime = async (options) => {
    const runtime = await scriptedRuntime({ pieces })(options)
    return {
      ...runtime,
      generate(generation, signal) {
        asked.push(generation)
        return runtime.generate(generation, signal)
      },
    }
  }
  const { url } = await useTestDaemon({}, start)
  return { url, asked, openai: connect(url) }
}

const messagesOf = (generation: Generation | undefined) =>
  generation && 'chat' in generation.prompt ? generation.prompt.chat.messages : []

test('a response to a text, and to a list of items', async () => {
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

test('the events of a stream, in order and numbered', async () => {
  const stream = await openai.responses.create({
    model,
    input: 'Hello',
    temperature: 0,
    stream: true,
  })
  const events = await collect(stream)
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
  const response = await fetch(`${daemon.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello', stream: true }),
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

test('an answer that is cut off is incomplete, complete and streamed', async () => {
  const body = { model, input: 'Tell me a story', max_output_tokens: 3 }
  const response = await openai.responses.create(body)
  const incomplete = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' }],
    usage: { output_tokens: 3 },
  }
  expect(response).toMatchObject(incomplete)
  const events = await collect(await openai.responses.create({ ...body, stream: true }))
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete })
})

test('JSON that matches a schema', async () => {
  const schema = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }
  const response = await openai.responses.create({
    model,
    input: 'Hello',
    text: { format: { type: 'json_schema', name: 'x', schema } },
  })
  expect(JSON.parse(response.output_text)).toEqual({ yes: expect.any(Boolean) })
  expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'x', schema })
})

test('log probabilities', async () => {
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

test('a forced call, and the answer after its output', async () => {
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

const thoughtful: Piece[] = [
  { reasoning: 'Hm' },
  { reasoning: '.' },
  { text: 'I look.' },
  { toolCall: { name: 'a', arguments: '{"x":1}' } },
  { toolCall: { name: 'b', arguments: '' } },
  { argumentsDelta: '{"y":' },
  { argumentsDelta: '2}' },
]

test('reasoning, text and calls are separate items, with their own events', async () => {
  const { openai } = await useScripted(thoughtful)
  const events = await collect(await openai.responses.create({ model, input: 'Hi', stream: true }))
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

test('a client that asks for a summary of the reasoning gets the reasoning in its place', async () => {
  const { openai } = await useScripted(thoughtful)
  const reasoning = { effort: 'low' as const, summary: 'auto' as const }
  const body = { model, input: 'Hi', reasoning }
  const events = await collect(await openai.responses.create({ ...body, stream: true }))
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

test('a response can be continued, retrieved and deleted', async () => {
  const { openai, asked } = await useScripted(thoughtful)
  const first = await openai.responses.create({ model, input: 'Hi', instructions: 'Be brief' })
  const calls = first.output.flatMap((item) => (item.type === 'function_call' ? item : []))
  const outputs = calls.map(({ call_id }) => ({
    type: 'function_call_output' as const,
    call_id,
    output: 'done',
  }))
  const second = await openai.responses.create({
    model,
    previous_response_id: first.id,
    instructions: 'Be exact',
    input: outputs,
  })
  expect(messagesOf(asked[1])).toEqual([
    { role: 'system', content: 'Be exact' },
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: calls.map(({ call_id, name, arguments: args }) => ({
        id: call_id,
        type: 'function',
        function: { name, arguments: args },
      })),
    },
    ...calls.map(({ call_id, name }) => ({
      role: 'tool',
      content: 'done',
      tool_call_id: call_id,
      name,
    })),
  ])
  const { _request_id, output_text, ...kept } = await openai.responses.retrieve(second.id)
  expect(second).toMatchObject(kept)
  await openai.responses.delete(first.id)
  await expect(openai.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
  const third = { model, previous_response_id: second.id, input: 'And?' }
  await openai.responses.create(third)
  expect(messagesOf(asked[2]).filter(({ role }) => role === 'user')).toHaveLength(2)
})

test('a streamed response can be continued as soon as its last event has arrived', async () => {
  const { openai } = await useScripted([{ text: 'Hello' }])
  for (let turn = 0; turn < 20; turn += 1) {
    for await (const event of await openai.responses.create({ model, input: 'Hi', stream: true })) {
      if (event.type !== 'response.completed') continue
      const next = { model, input: 'Hi', previous_response_id: event.response.id }
      expect((await openai.responses.create(next)).status).toBe('completed')
    }
  }
})

test('an item of a kept response can be referred to by its ID', async () => {
  const { openai, asked } = await useScripted([{ text: 'Hello' }])
  const { output } = await openai.responses.create({ model, input: 'Hi' })
  const reference = { type: 'item_reference' as const, id: output[0]?.id ?? '' }
  const question = { role: 'user' as const, content: 'Again?' }
  await openai.responses.create({ model, input: [reference, question] })
  expect(messagesOf(asked[1])).toEqual([{ role: 'assistant', content: 'Hello' }, question])
  await expect(
    openai.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_x' }] }),
  ).rejects.toMatchObject({ status: 404, code: 'response_not_found', param: 'input.0.id' })
})

test('with store: false, nothing is kept', async () => {
  const { openai } = await useScripted([{ text: 'Hello' }])
  const { id, output } = await openai.responses.create({ model, input: 'Hi', store: false })
  await expect(openai.responses.retrieve(id)).rejects.toMatchObject({
    status: 404,
    code: 'response_not_found',
    message: expect.stringMatching(/only in memory.*until the daemon is restarted/),
  })
  const reference = { type: 'item_reference' as const, id: output[0]?.id ?? '' }
  await expect(openai.responses.create({ model, input: [reference] })).rejects.toMatchObject({
    status: 404,
  })
  await expect(
    openai.responses.create({ model, input: 'Hi', previous_response_id: id }),
  ).rejects.toMatchObject({ status: 404, param: 'previous_response_id' })
})

test('allowed tools, and a first message of the developer', async () => {
  const { openai, asked } = await useScripted([{ text: 'Hello' }])
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

test('parameters that are not supported may be turned off', async () => {
  const { openai } = await useScripted([{ text: 'Hello' }])
  const off = { background: false, conversation: null, max_tool_calls: null }
  const { status } = await openai.responses.create({ model, input: 'Hi', ...off })
  expect(status).toBe('completed')
})

test('if a model crashes, the stream ends with response.failed', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime({ diesAfter: 2 }))
  const stream = await connect(url).responses.create({ model, input: 'Hi', stream: true })
  const events = await collect(stream)
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    sequence_number: events.length - 1,
    response: { status: 'failed', error: { code: 'model_lost' } },
  })
})

test.each([
  [404, 'model_not_found', 'model', { model: 'nobody-7b', input: 'Hi' }],
  [422, null, 'input', { model }],
  [422, null, 'input', { model, input: [] }],
  [422, null, 'input.0.role', { model, input: [{ content: 'Hi' }] }],
  [422, null, 'input.0.id', { model, input: [{ type: 'item_reference' }] }],
  [422, null, 'input.0.call_id', { model, input: [{ type: 'function_call_output', output: 'x' }] }],
  [422, null, 'temperature', { model, input: 'Hi', temperature: 3 }],
  [422, null, 'text.format', { model, input: 'Hi', text: { format: { type: 'json_schema' } } }],
  [400, 'unsupported_parameter', 'background', { model, input: 'Hi', background: true }],
  [400, 'unsupported_parameter', 'truncation', { model, input: 'Hi', truncation: 'auto' }],
  [400, 'unsupported_parameter', 'tools.0.type', { model, input: 'Hi', tools: [{ type: 'mcp' }] }],
  [400, 'unsupported_parameter', 'input.0.type', { model, input: [{ type: 'computer_call' }] }],
  [
    400,
    'unsupported_parameter',
    'input.0.content',
    { model, input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
  ],
  [
    400,
    'unsupported_parameter',
    'input.0.output',
    {
      model,
      input: [{ type: 'function_call_output', call_id: 'x', output: [{ type: 'input_image' }] }],
    },
  ],
  [400, null, 'tool_choice', { model, input: 'Hi', tool_choice: 'required' }],
  [
    404,
    'response_not_found',
    'previous_response_id',
    { model, input: 'Hi', previous_response_id: 'x' },
  ],
  [400, 'context_length_exceeded', 'input', { model, input: 'a b '.repeat(900) }],
])(
  'an error with status %i (%s, %s) is recognized by the client',
  async (status, code, param, body) => {
    const failure = await openai.responses.create(body as never).catch((error) => error)
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ status, code, param })
  },
)
