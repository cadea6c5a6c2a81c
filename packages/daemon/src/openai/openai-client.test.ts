/** The official client of OpenAI's API against the real daemon with the demo model. */
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let openai: OpenAI
beforeAll(async () => {
  daemon = await startTestDaemon()
  openai = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: 'anything', maxRetries: 0 })
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'
const hello = [{ role: 'user' as const, content: 'Hello' }]

test('no model is loaded before somebody asks for one', async () => {
  expect((await openai.models.list()).data).toEqual([])
  expect(await openai.models.retrieve(model)).toMatchObject({ id: model, object: 'model' })
})

test('a chat completion', async () => {
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

test('a stream says the same, with its usage at the end', async () => {
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

test('several choices, log probabilities, JSON of a schema', async () => {
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

test('a plain completion, whole and as a stream', async () => {
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

test.each([
  [404, 'model_not_found', { model: 'nobody-7b', messages: hello }],
  [422, null, { model, messages: [] }],
  [422, null, { model }],
  [422, null, { model, messages: hello, temperature: 3 }],
  [422, null, { model, messages: hello, max_tokens: 'many' }],
  [400, 'unsupported_parameter', { model, messages: hello, audio: { voice: 'x' } }],
  [
    400,
    'context_length_exceeded',
    { model, messages: [{ role: 'user', content: 'a b '.repeat(900) }] },
  ],
])('an error of %i (%s) is one that the client understands', async (status, code, body) => {
  const failure = await openai.chat.completions.create(body as never).catch((error) => error)
  expect(failure).toBeInstanceOf(APIError)
  expect(failure).toMatchObject({ status, code })
  const raw = await fetch(`${daemon.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(await raw.json()).toMatchObject({
    detail: expect.any(String),
    error: { message: expect.any(String), type: 'invalid_request_error', code },
  })
})

test('a client that stops a stream leaves no slot taken', async () => {
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

test('each line of a stream begins with data:, and the last is [DONE]', async () => {
  const response = await fetch(`${daemon.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: hello, stream: true }),
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  expect(lines.filter((line) => !line.startsWith('data: '))).toEqual([])
  expect(lines.at(-1)).toBe('data: [DONE]')
})
