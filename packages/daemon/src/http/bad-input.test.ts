/** Tests that requests which exceed a limit get a clear error, and that another request to the same model continues. */
import { expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import type { Chat } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-tiny'
const messages = [{ role: 'user', content: 'Hi' }]

type Body = Record<string, unknown>

/** The APIs for conversations, each with a function that creates a request. */
const apis: Record<string, (text: string, others?: Body) => Body> = {
  '/v1/chat/completions': (content, others) => ({
    messages: [{ role: 'user', content }],
    ...others,
  }),
  '/v1/responses': (input, others) => ({ input, ...others }),
  '/v1/messages': (content, others) => ({
    messages: [{ role: 'user', content }],
    max_tokens: 100,
    ...others,
  }),
  '/api/chat': (content, others) => ({
    messages: [{ role: 'user', content }],
    stream: false,
    ...others,
  }),
}

async function post(url: string, path: string, body: Body | string) {
  const response = await postJson(url + path, typeof body === 'string' ? body : { model, ...body })
  return { status: response.status, body: (await response.json()) as Body & { detail: string } }
}

/**
 * Starts a daemon and sends it a request whose answer is paused. `expectGoesOn` lets the answer finish and checks it.
 */
async function useBusyDaemon() {
  const asked: Chat[] = []
  const gate = Promise.withResolvers<void>()
  const { url } = await useTestDaemon({}, async (options) => {
    const fast = await scriptedRuntime()(options)
    const slow = await scriptedRuntime({ pace: () => gate.promise })(options)
    return {
      ...fast,
      generate(generation, signal) {
        if ('chat' in generation.prompt) asked.push(generation.prompt.chat)
        return (asked.length === 1 ? slow : fast).generate(generation, signal)
      },
    }
  })
  const running = post(url, '/v1/chat/completions', { messages })
  await expect.poll(() => asked.length).toBe(1)
  async function expectGoesOn() {
    gate.resolve()
    const { status, body } = await running
    expect(status).toBe(200)
    expect(body.choices).toMatchObject([{ message: { content: 'Hello! How are you?' } }])
  }
  onTestFinished(() => gate.resolve())
  return { url, asked, expectGoesOn }
}

test.each(Object.entries(apis))(
  '%s rejects a request with ten thousand tools',
  async (path, request) => {
    const { url, asked, expectGoesOn } = await useBusyDaemon()
    const tools = Array.from({ length: 10_000 }, (_, index) => {
      const named = { name: `tool_${index}`, description: 'x', parameters: {}, input_schema: {} }
      return path === '/v1/responses'
        ? { type: 'function', ...named }
        : { ...named, ...(path !== '/v1/messages' && { type: 'function', function: named }) }
    })
    const { status, body } = await post(url, path, request('Hi', { tools }))
    expect(status).toBe(422)
    expect(body.detail).toMatch(/^tools must not have more than 1024 items$/)
    expect(asked).toHaveLength(1)
    await expectGoesOn()
  },
)

test.each(Object.entries(apis))(
  '%s rejects a body that is nested too deeply',
  async (path, request) => {
    const { url, expectGoesOn } = await useBusyDaemon()
    const depth = 100_000
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const whole = JSON.stringify({ model, ...request('Hi') }).replace(/}$/, `,"metadata":${deep}}`)
    const { status, body } = await post(url, path, whole)
    expect(status).toBe(400)
    expect(body.detail).toBe('the body is nested more than 200 levels deep')
    await expectGoesOn()
  },
)

const maxBodyBytes = 16 * 1024 * 1024

test.each(Object.entries(apis))(
  '%s accepts a body at the size limit, and rejects a larger one',
  async (path, request) => {
    const { url, asked, expectGoesOn } = await useBusyDaemon()
    const frame = JSON.stringify({ model, ...request('') }).length
    const largest = await post(url, path, request('a'.repeat(maxBodyBytes - frame)))
    expect(largest.status).toBe(200)
    expect(asked.at(-1)?.messages[0]?.content).toHaveLength(maxBodyBytes - frame)
    const larger = await post(url, path, request('a'.repeat(maxBodyBytes - frame + 1)))
    expect(larger.status).toBe(413)
    expect(larger.body).toMatchObject({ detail: expect.any(String), error: expect.anything() })
    await expectGoesOn()
  },
)

test('referring to an item a thousand times, or to an unknown response, is an error', async () => {
  const { url, expectGoesOn } = await useBusyDaemon()
  const { body } = await post(url, '/v1/responses', { input: 'Hi' })
  const [item] = body.output as [{ id: string }]
  const reference = { type: 'item_reference', id: item.id }
  const input = Array.from({ length: 1000 }, () => reference)
  expect((await post(url, '/v1/responses', { input })).status).toBe(400) // too long for the context
  const unknown = { input: 'Hi', previous_response_id: `resp_${'0'.repeat(64)}` }
  expect((await post(url, '/v1/responses', unknown)).status).toBe(404)
  await expectGoesOn()
})

/** For each API, a function that returns the request parameters for an answer that matches a schema. */
const withSchema: Record<string, (schema: object) => Body> = {
  '/v1/chat/completions': (schema) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
  }),
  '/v1/responses': (schema) => ({ text: { format: { type: 'json_schema', name: 'x', schema } } }),
  '/v1/messages': (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  '/api/chat': (schema) => ({ format: schema }),
}

const deepSchema = (depth: number): object =>
  depth === 0 ? {} : { type: 'object', properties: { a: deepSchema(depth - 1) }, required: ['a'] }

const hugeSchema = { enum: Array.from({ length: 300_000 }, (_, index) => `value ${index}`) }

const badSchemas = [
  { $ref: '#' },
  { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
  { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, // every value would be infinite
  { $ref: '#/$defs/missing' },
]

slowTest(
  'cyclic, huge and too deeply nested schemas are rejected while a real model answers another request',
  async () => {
    const { url } = await useTestDaemon()
    const long = { messages, max_tokens: 200, temperature: 2, logit_bias: { 2: -100 } }
    const running = post(url, '/v1/chat/completions', long)
    for (const [path, create] of Object.entries(withSchema)) {
      const request = (schema: object) => ({ ...apis[path]?.('Hi'), ...create(schema) })
      for (const schema of badSchemas) {
        const { status, body } = await post(url, path, request(schema))
        expect([status, body.detail]).toEqual([400, expect.stringMatching(/^the schema: /)])
      }
      expect((await post(url, path, request(deepSchema(100)))).body.detail).toBe(
        'the body is nested more than 200 levels deep',
      )
      const deepest = { ...request(deepSchema(90)), max_tokens: 3, max_output_tokens: 3 }
      expect((await post(url, path, { ...deepest, options: { num_predict: 3 } })).status).toBe(200)
    }
    const { body } = await post(url, '/api/chat', {
      ...apis['/api/chat']?.('Hi'),
      format: hugeSchema,
    })
    expect(body.detail).toBe('the schema: it is too large')
    expect((await running).status).toBe(200)
  },
)
