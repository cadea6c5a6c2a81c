/** Tests Anthropic's official client with a real daemon and the demo model, and with a scripted model. */
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Piece } from '../runtime/runtime.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon, useTestDaemon } from '../testing/test-daemon.ts'

const connect = (url: string, apiKey = 'anything') =>
  new Anthropic({ baseURL: url, apiKey, authToken: null, maxRetries: 0 })

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let client: Anthropic
beforeAll(async () => {
  daemon = await startTestDaemon()
  client = connect(daemon.url)
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'
const hello = [{ role: 'user' as const, content: 'Hello' }]
const max_tokens = 60
/** The client no longer declares this parameter, but the API has it. */
const greedy = { temperature: 0 }

test('a message is answered', async () => {
  const message = await client.messages.create({
    model,
    max_tokens,
    messages: hello,
    ...greedy,
  })
  expect(message).toMatchObject({
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'Hello! How can I help you?' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
  })
  expect(message.usage.input_tokens).toBeGreaterThan(0)
  expect(message.usage.output_tokens).toBeGreaterThan(0)
})

test('a streamed message has the same text as one that is not streamed', async () => {
  const stream = client.messages.stream({ model, max_tokens, messages: hello, ...greedy })
  const usages: { input_tokens: number; cache_read_input_tokens: number | null }[] = []
  stream.on('streamEvent', (event) => {
    if (event.type === 'message_start') usages.push({ ...event.message.usage })
  })
  const message = await stream.finalMessage()
  const { input_tokens, cache_read_input_tokens } = message.usage
  expect(usages).toMatchObject([{ input_tokens, cache_read_input_tokens }])
  expect(input_tokens).toBeGreaterThan(0)
  expect(message.content).toEqual([{ type: 'text', text: 'Hello! How can I help you?' }])
  expect(message.stop_reason).toBe('end_turn')
  expect(message.usage.output_tokens).toBeGreaterThan(0)
})

test('the answer ends at the maximum number of tokens, and at a stop sequence', async () => {
  const short = await client.messages.create({ model, max_tokens: 2, messages: hello })
  expect(short).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 2 } })
  const body = { model, max_tokens, messages: hello, ...greedy }
  const stopped = await client.messages.create({ ...body, stop_sequences: ['help', ' can'] })
  expect(stopped).toMatchObject({
    content: [{ type: 'text', text: 'Hello! How' }],
    stop_reason: 'stop_sequence',
    stop_sequence: ' can',
  })
})

test("if the last message is the assistant's, the answer continues it", async () => {
  const message = await client.messages.create({
    ...{ model, max_tokens, ...greedy },
    messages: [...hello, { role: 'assistant', content: 'Hello! How can' }],
  })
  expect(message.content).toEqual([{ type: 'text', text: ' I help you?' }])
})

test('tokens are counted without generating an answer', async () => {
  const count = (messages: { role: 'user'; content: string }[], system = '') =>
    client.messages.countTokens({ model, messages, system })
  const { input_tokens: few } = await count(hello)
  const { input_tokens: more } = await count(hello, 'Be brief. Be kind.')
  expect(few).toBeGreaterThan(0)
  expect(more).toBeGreaterThan(few)
})

test('a forced tool is called with valid arguments', async () => {
  const message = await client.messages.create({
    ...{ model, max_tokens: 200, messages: hello },
    tools: [
      {
        name: 'look',
        input_schema: {
          type: 'object',
          properties: { at: { enum: ['sea', 'sky'] } },
          required: ['at'],
        },
      },
    ],
    tool_choice: { type: 'tool', name: 'look' },
  })
  expect(message).toMatchObject({
    content: [{ type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'look' }],
    stop_reason: 'tool_use',
  })
  const [block] = message.content
  expect(['sea', 'sky']).toContain(block?.type === 'tool_use' && (block.input as { at: string }).at)
})

test('an answer matches the requested JSON schema', async () => {
  const schema = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }
  const message = await client.messages.create({
    ...{ model, max_tokens, messages: hello },
    output_config: { format: { type: 'json_schema', schema } },
  })
  const [block] = message.content
  if (block?.type !== 'text') throw new Error('no text')
  expect(JSON.parse(block.text)).toEqual({ yes: expect.any(Boolean) })
})

const busy: Piece[] = [
  { reasoning: 'Hm' },
  { reasoning: '.' },
  { text: 'I look.' },
  { toolCall: { name: 'look', arguments: '' } },
  { argumentsDelta: '{"at":' },
  { argumentsDelta: '"sea"}' },
  { toolCall: { name: 'wait', arguments: '{}' } },
]

test('reasoning, text and calls are separate blocks, with and without streaming', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime({ pieces: busy }))
  const request = { model, max_tokens, messages: hello, tools: [] }
  const id = expect.stringMatching(/^toolu_/)
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id, name: 'look', input: { at: 'sea' } },
    { type: 'tool_use', id, name: 'wait', input: {} },
  ]
  const whole = await connect(url).messages.create(request)
  expect(whole.content).toEqual(content)
  const stream = connect(url).messages.stream(request)
  const events: string[] = []
  stream.on('streamEvent', (event) => {
    events.push('index' in event ? `${event.type} ${event.index}` : event.type)
  })
  expect((await stream.finalMessage()).content).toMatchObject(content)
  expect(events).toEqual([
    'message_start',
    ...['start', 'delta', 'delta', 'delta', 'stop'].map((part) => `content_block_${part} 0`),
    ...['start', 'delta', 'stop'].map((part) => `content_block_${part} 1`),
    ...['start', 'delta', 'delta', 'stop'].map((part) => `content_block_${part} 2`),
    ...['start', 'delta', 'stop'].map((part) => `content_block_${part} 3`),
    ...['message_delta', 'message_stop'],
  ])
})

test("the model does not see Claude Code's billing line, which differs from session to session", async () => {
  const count = async (system: Anthropic.TextBlockParam[]) =>
    (await client.messages.countTokens({ model, messages: hello, system })).input_tokens
  const own = { type: 'text' as const, text: 'Be brief.' }
  const line = 'x-anthropic-billing-header: cc_version=2.1.332.a1b; cc_entrypoint=cli;'
  expect(await count([{ type: 'text', text: line }, own])).toBe(await count([own]))
})

test("errors have the API's format, even within a stream", async () => {
  const missing = client.messages.create({ model: 'no-such-model', max_tokens, messages: hello })
  await expect(missing).rejects.toMatchObject({
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error' }, detail: expect.any(String) },
  })
  const image = [{ type: 'image', source: { type: 'url', url: 'http://x' } }]
  const strange = client.messages.create({
    ...{ model, max_tokens },
    messages: [{ role: 'user', content: image as never }],
  })
  await expect(strange).rejects.toThrow('this model cannot see the image')
  const wrong = client.messages.create({ model, messages: hello } as never)
  await expect(wrong).rejects.toMatchObject({
    status: 422,
    error: { detail: 'max_tokens is required' },
  })
  const { url } = await useTestDaemon({}, scriptedRuntime({ diesAfter: 2 }))
  const stream = connect(url).messages.stream({ model, max_tokens, messages: hello })
  const error = await stream.finalMessage().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ error: { error: { type: 'api_error' } } })
})

test('a key is accepted in x-api-key', async () => {
  const { url } = await useTestDaemon({ apiKey: 'secret' })
  const ask = (key: string) => connect(url, key).messages.countTokens({ model, messages: hello })
  expect((await ask('secret')).input_tokens).toBeGreaterThan(0)
  await expect(ask('wrong')).rejects.toMatchObject({
    status: 401,
    error: { error: { type: 'authentication_error' } },
  })
})
