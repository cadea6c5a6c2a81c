import { beforeAll, describe, expect, test } from 'vitest'
import { promptError, promptTooLong, type StartRuntime } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon, useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-nano'
const messages = [{ role: 'user', content: 'Hello' }]

async function fetchError(url: string, path: string, body: object) {
  const answer = await postJson(url + path, body)
  const json = (await answer.json()) as { detail: string; error: { param: string | null } }
  return { status: answer.status, detail: json.detail, param: json.error.param }
}

/** A runtime that rejects every request with this error. */
function refusing(error: Error): StartRuntime {
  return async (options) => ({
    ...(await scriptedRuntime()(options)),
    // biome-ignore lint/correctness/useYield: it ends before the first part
    async *generate() {
      throw error
    },
    async embed() {
      throw error
    },
  })
}

test("the error for a prompt that is too long contains the name of the endpoint's prompt parameter", async () => {
  const tooLong = promptTooLong({ promptTokens: 700, contextLength: 512 })
  const { url } = await useTestDaemon({}, refusing(tooLong))
  const paramAt = async (path: string, body: object) => (await fetchError(url, path, body)).param
  expect(await paramAt('/v1/chat/completions', { model, messages })).toBe('messages')
  expect(await paramAt('/v1/completions', { model, prompt: 'Hello' })).toBe('prompt')
  expect(await paramAt('/v1/embeddings', { model, input: 'Hello' })).toBe('input')
})

test('a disk that cannot be used is named, with the reason', async () => {
  const system = { code: 'ENOTCONN', errno: -107, syscall: 'open', path: '/mnt/models' }
  const { url } = await useTestDaemon({}, refusing(Object.assign(new Error('raw'), system)))
  expect(await fetchError(url, '/v1/completions', { model, prompt: 'Hello' })).toMatchObject({
    status: 503,
    detail: '/mnt/models cannot be used: its network disk is not connected',
  })
})

test('an error from the runtime contains the invalid parameter', async () => {
  const unknown = promptError('unknown_token', 'no token 9', { param: 'logit_bias' })
  const { url } = await useTestDaemon({}, refusing(unknown))
  const body = { model, messages, logit_bias: { 9: 1 } }
  expect((await fetchError(url, '/v1/chat/completions', body)).param).toBe('logit_bias')
})

describe("if a request does not match the endpoint's schema, the error explains why", () => {
  let url: string
  beforeAll(async () => {
    const daemon = await startTestDaemon({}, scriptedRuntime())
    url = daemon.url
    return () => daemon.close()
  })

  const chat = '/v1/chat/completions'
  const embed = '/v1/embeddings'
  test.each([
    [chat, { stop: Array(65).fill('a') }, 'stop must not have more than 64 items'],
    [chat, { stop: 4 }, 'stop must be string, array or null'],
    [chat, { stop: ['a', 4] }, 'stop.1 must be string'],
    [chat, { messages: [] }, 'messages must not be empty'],
    [chat, { messages: [{ role: 'user', content: [] }] }, 'messages.0.content must not be empty'],
    [
      chat,
      { messages: [{ role: 'cook' }] },
      'messages.0.role must be system, developer, user, assistant or tool',
    ],
    [chat, { tool_choice: 'one' }, 'tool_choice must be none, auto or required'],
    [chat, { tool_choice: { type: 'function' } }, 'tool_choice.function is required'],
    [chat, { temperature: 3 }, 'temperature must be <= 2'],
    [embed, { input: [] }, 'input must not be empty'],
    [embed, { input: ['a', 1] }, 'input.1 must be string'],
    [embed, { input: [1, 'a'] }, 'input.1 must be integer'],
    [embed, { input: [[1, 'a']] }, 'input.0.1 must be integer'],
    [embed, { input: true }, 'input must be string or array'],
  ])('%s with %j', async (path, body, detail) => {
    const [param] = detail.split(' ')
    const whole = { model, ...(path === chat && { messages }), ...body }
    expect(await fetchError(url, path, whole)).toEqual({ status: 422, detail, param })
  })
})
