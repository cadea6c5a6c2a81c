/** Tests OpenAI's official client with a real daemon and the demo model. */
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let openai: OpenAI
beforeAll(async () => {
  daemon = await startTestDaemon()
  openai = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: 'anything', maxRetries: 0 })
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'
const story = [{ role: 'user' as const, content: 'Tell me a story' }]
const hello = [{ role: 'user' as const, content: 'Hello' }]

test('no model is loaded before the first request', async () => {
  expect((await openai.models.list()).data).toEqual([])
  expect(await openai.models.retrieve(model)).toMatchObject({ id: model, object: 'model' })
})

test('a chat completion has the text and the token counts', async () => {
  const answer = await openai.chat.completions.create({ model, messages: hello, temperature: 0 })
  expect(answer).toMatchObject({
    object: 'chat.completion',
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello! How can I help you?' },
        finish_reason: 'stop',
      },
    ],
  })
  expect(answer.usage?.total_tokens).toBe(
    (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
  )
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual([model])
})

test('a streamed chat completion has the same text, and the token counts at the end', async () => {
  const stream = await openai.chat.completions.create({
    model,
    messages: hello,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  expect(text).toBe('Hello! How can I help you?')
  expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 9 } })
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
})

test('a chat completion supports several choices, log probabilities, and a JSON schema', async () => {
  const three = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Tell me a story' }],
    n: 3,
    seed: 1,
    temperature: 1.5,
    max_tokens: 20,
    logprobs: true,
    top_logprobs: 2,
  })
  expect(new Set(three.choices.map(({ message }) => message.content)).size).toBe(3)
  expect(three.choices.map(({ finish_reason }) => finish_reason)).toContain('length')
  const [first] = three.choices[0]?.logprobs?.content ?? []
  expect(first?.top_logprobs).toHaveLength(2)

  const schema = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }
  const json = await openai.chat.completions.create({
    model,
    messages: hello,
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
  })
  expect(JSON.parse(json.choices[0]?.message.content ?? '')).toEqual({ yes: expect.any(Boolean) })
})

test('a text completion is the same with and without streaming', async () => {
  const body = { model, prompt: 'Once upon a time', temperature: 0, max_tokens: 12 }
  const whole = await openai.completions.create(body)
  expect(whole).toMatchObject({ object: 'text_completion', choices: [{ finish_reason: 'length' }] })
  expect(whole.usage?.completion_tokens).toBe(12)
  let text = ''
  for await (const { choices } of await openai.completions.create({ ...body, stream: true })) {
    text += choices[0]?.text ?? ''
  }
  expect(text).toBe(whole.choices[0]?.text)
})

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'the weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { enum: ['Lisbon', 'Oslo'] } },
      required: ['city'],
    },
  },
}

test('a forced tool call is the same with and without streaming, and the model can answer after the result of the call', async () => {
  const body = { model, messages: hello, tools: [weather], tool_choice: 'required' as const }
  const { choices } = await openai.chat.completions.create({ ...body, temperature: 0 })
  const [choice] = choices
  expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
  const [call] = choice?.message.tool_calls ?? []
  if (call?.type !== 'function') throw new Error('no call')
  expect(call.function.name).toBe('weather')
  expect(['Lisbon', 'Oslo']).toContain(JSON.parse(call.function.arguments).city)

  const streamed = openai.chat.completions.stream({ ...body, temperature: 0 })
  const last = await streamed.finalChatCompletion()
  expect(last.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: call.function })

  const messages = [
    ...hello,
    { role: 'assistant' as const, tool_calls: [call] },
    { role: 'tool' as const, tool_call_id: call.id, content: 'sunny' },
  ]
  const after = await openai.chat.completions.create({ ...body, messages, tool_choice: 'none' })
  expect(after.choices[0]?.finish_reason).not.toBe('tool_calls')
})

test('embeddings are the same as floats and as base64, which the client requests by default', async () => {
  const input = ['What is a web seed?', 'Hello']
  const asked = await openai.embeddings.create({ model, input })
  const floats = await openai.embeddings.create({ model, input, encoding_format: 'float' })
  expect(asked.data.map(({ index }) => index)).toEqual([0, 1])
  expect(asked.data[0]?.embedding).toHaveLength(256)
  expect(Math.hypot(...(asked.data[0]?.embedding ?? []))).toBeCloseTo(1, 5)
  for (const [index, { embedding }] of floats.data.entries()) {
    embedding.forEach((value, place) => {
      expect(asked.data[index]?.embedding[place]).toBeCloseTo(value, 6)
    })
  }
  expect(asked.usage.prompt_tokens).toBeGreaterThan(2)
  const short = await openai.embeddings.create({ model, input: 'Hello', dimensions: 8 })
  expect(Math.hypot(...(short.data[0]?.embedding ?? []))).toBeCloseTo(1, 5)
})

test('a completion request may have several prompts, or a prompt of tokens, and gets legacy log probabilities', async () => {
  const body = { model, temperature: 0, max_tokens: 4, logprobs: 2 }
  const { choices, usage } = await openai.completions.create({
    ...body,
    prompt: ['Once upon', 'Hello'],
    n: 2,
  })
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
  expect(choices[0]?.text).toBe(choices[1]?.text)
  expect(choices[0]?.logprobs?.tokens?.join('')).toBe(choices[0]?.text)
  expect(usage?.completion_tokens).toBe(16)
  const inTokens = await openai.completions.create({ ...body, prompt: [10, 20, 30] })
  expect(inTokens.usage?.prompt_tokens).toBe(3)
})

test('eight concurrent requests get the same answer as a single request', async () => {
  const ask = () =>
    openai.chat.completions.create({ model, temperature: 0, max_tokens: 60, messages: story })
  const one = await ask()
  const eight = await Promise.all(Array.from({ length: 8 }, ask))
  const texts = eight.map(({ choices }) => choices[0]?.message.content)
  expect(texts).toEqual(texts.map(() => one.choices[0]?.message.content))
})

test.each([
  [404, 'model_not_found', { model: 'nobody-7b', messages: hello }],
  [422, null, { model, messages: [] }],
  [422, null, { model }],
  [422, null, { model, messages: hello, temperature: 3 }],
  [422, null, { model, messages: hello, max_tokens: 'many' }],
  [400, 'unsupported_parameter', { model, messages: hello, audio: { voice: 'x' } }],
  [400, 'unsupported_parameter', { model, messages: hello, tools: [{ type: 'mcp' }] }],
  [400, null, { model, messages: hello, tool_choice: 'required' }],
  [400, 'unknown_token', { model, messages: hello, logit_bias: { 99999: 1 } }],
  [
    400,
    'schema_refused',
    {
      model,
      messages: hello,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'string', pattern: '(?<=x)y' } },
      },
    },
  ],
])('an error with status %i (%s) is recognized by the client', async (status, code, body) => {
  const failure = await openai.chat.completions.create(body as never).catch((error) => error)
  expect(failure).toBeInstanceOf(APIError)
  expect(failure).toMatchObject({ status, code })
  const raw = await postJson(`${daemon.url}/v1/chat/completions`, body)
  expect(await raw.json()).toMatchObject({
    detail: expect.any(String),
    error: { message: expect.any(String), type: 'invalid_request_error', code },
  })
})

test('after a client has stopped a stream, no slot is in use', async () => {
  for (let round = 0; round < 10; round += 1) {
    const stream = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Tell me a story' }],
      max_tokens: 400,
      stream: true,
    })
    for await (const _ of stream) break
  }
  const { choices } = await openai.chat.completions.create({
    model,
    messages: hello,
    temperature: 0,
  })
  expect(choices[0]?.message.content).toBe('Hello! How can I help you?')
})

test('each line of a stream begins with data:, and the last line is [DONE]', async () => {
  const response = await postJson(`${daemon.url}/v1/chat/completions`, {
    model,
    messages: hello,
    stream: true,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  expect(lines.filter((line) => !line.startsWith('data: '))).toEqual([])
  expect(lines.at(-1)).toBe('data: [DONE]')
})
