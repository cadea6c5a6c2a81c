/** Tests requests that Ollama's official client does not send, and details of responses that it does not show. */
import { expect, test } from 'vitest'
import { addModel } from '../testing/gguf-of-test.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-nano'
const hello = [{ role: 'user', content: 'Hello' }]

async function scripted(script: Parameters<typeof scriptedRuntime>[0] = {}, settings = {}) {
  const daemon = await useTestDaemon(settings, scriptedRuntime(script))
  const send = (path: string, body: unknown, init: RequestInit = {}) =>
    fetch(daemon.url + path, { method: 'POST', body: JSON.stringify(body), ...init })
  return {
    ...daemon,
    send,
    async post(path: string, body: unknown) {
      const answer = await send(path, body)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    },
    async lines(path: string, body: unknown) {
      const text = await (await send(path, body)).text()
      expect(text.endsWith('\n')).toBe(true)
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
  }
}

test.each([
  ['/api/nothing', {}, 404, 'no such endpoint: POST /api/nothing'],
  ['/api/chat', { messages: hello }, 422, 'model is required'],
  ['/api/show', {}, 422, 'model is required'],
  ['/api/chat', { model, messages: 'Hello' }, 422, 'messages must be array or null'],
  ['/api/chat', { model, messages: hello, format: 'xml' }, 400, 'format must be "json"'],
  ['/api/chat', { model, messages: hello, keep_alive: 'soon' }, 400, 'keep_alive'],
  ['/api/chat', { model, keep_alive: true }, 422, 'keep_alive must be string, number or null'],
  ['/api/chat', { model, messages: hello, think: 'hard' }, 400, 'think'],
  ['/api/chat', { model, messages: hello, think: true }, 400, 'does not support thinking'],
  ['/api/chat', { model, messages: [{ ...hello[0], images: ['AA=='] }] }, 400, 'messages.0.images'],
  ['/api/generate', { model, prompt: 'a', images: ['AA=='] }, 400, 'images'],
  ['/api/generate', { model, prompt: 'a', template: '{{ .Prompt }}' }, 400, 'template'],
  ['/api/generate', { model, prompt: 'a', context: [1, 2] }, 400, 'context'],
  ['/api/chat', { model, messages: hello, options: { typical_p: 0.5 } }, 400, 'options.typical_p'],
  ['/api/chat', { model, messages: hello, options: { top_p: 2 } }, 422, 'options.top_p'],
  ['/api/embed', { model, input: ['a', ''] }, 400, 'input contains an empty string'],
  ['/api/pull', { model: 'tide' }, 400, 'without a registry'],
])('%s with %j returns status %i and a message', async (path, body, status, text) => {
  const { post } = await scripted()
  const answer = await post(path, body)
  expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(text) } })
  expect(answer.body.detail).toBe(answer.body.error)
})

test('a pull of a model that is on this machine succeeds without a registry', async () => {
  const { lines, post } = await scripted()
  for (const name of [model, `${model}:latest`]) {
    const [first, ...others] = await lines('/api/pull', { model: name })
    expect(first.status).toMatch(/^using the files on this machine: .* without a registry/)
    expect(others.at(-1)).toEqual({ status: 'success' })
    const whole = await post('/api/pull', { model: name, stream: false })
    expect(whole).toEqual({ status: 200, body: { status: 'success' } })
  }
})

test('errors are strings under /api, and objects elsewhere', async () => {
  const { url, send } = await scripted({}, { apiKey: 'secret' })
  const text = expect.any(String)
  const unkeyed = await send('/api/chat', { model })
  expect(unkeyed.status).toBe(401)
  expect(await unkeyed.json()).toMatchObject({ error: text })
  const foreign = await fetch(`${url}/api/tags`, { headers: { origin: 'https://evil.example' } })
  expect(foreign.status).toBe(403)
  expect(await foreign.json()).toMatchObject({ error: text })
  const headers = { authorization: 'Bearer secret' }
  const broken = await fetch(`${url}/api/chat`, { method: 'POST', body: '{"model":', headers })
  expect(broken.status).toBe(400)
  expect(await broken.json()).toMatchObject({ error: text })
  const elsewhere = await fetch(`${url}/apiary`, { headers })
  expect(await elsewhere.json()).toMatchObject({ error: { message: text } })
})

test('HEAD is accepted wherever GET is, including the root', async () => {
  const { url } = await scripted()
  for (const path of ['/', '/api/version', '/api/tags']) {
    expect.soft((await fetch(url + path, { method: 'HEAD' })).status, path).toBe(200)
  }
  expect(await (await fetch(url)).text()).toBe('Ollama is running')
})

test('a body is parsed as JSON, regardless of its declared type', async () => {
  const { send } = await scripted()
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
    const headers = { 'content-type': type }
    const answer = await send('/api/chat', { model, messages: hello, stream: false }, { headers })
    expect.soft(answer.status, type).toBe(200)
  }
})

test('a stream consists of JSON lines, and responses are streams by default', async () => {
  const { send } = await scripted()
  const answer = await send('/api/generate', { model, prompt: 'Hello' })
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = (await answer.text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).response).join('')).toBe('Hello! How are you?')
})

test('an error that occurs after the first line is sent as the last line', async () => {
  const { lines } = await scripted({ diesAfter: 2 })
  const all = await lines('/api/chat', { model, messages: hello })
  expect(all).toHaveLength(3)
  expect(all.at(-1)).toEqual({
    error: "the model's process was killed by SIGSEGV",
    detail: "the model's process was killed by SIGSEGV",
    code: 'model_lost',
  })
})

test('reasoning and tool calls are separate from the text', async () => {
  const pieces = [
    { reasoning: 'Let me ' },
    { reasoning: 'see.' },
    { toolCall: { name: 'look', arguments: '{"where":"sea"}' } },
    { toolCall: { name: 'wait', arguments: '{}' } },
  ]
  const { folder, post, lines } = await scripted({ pieces })
  const template = '{% if tools %}{{ tools }}{% endif %}<think>{{ messages }}'
  addModel(folder, 'thinker', { 'tokenizer.chat_template': template })
  const shown = await post('/api/show', { model: 'thinker' })
  expect(shown.body.capabilities).toEqual(['completion', 'tools', 'thinking'])

  const asked = {
    model: 'thinker',
    think: true,
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: { a: 1 } } }] },
      { role: 'tool', tool_name: 'look', content: 'water' },
    ],
  }
  const calls = [
    { id: expect.any(String), function: { index: 0, name: 'look', arguments: { where: 'sea' } } },
    { id: expect.any(String), function: { index: 1, name: 'wait', arguments: {} } },
  ]
  const whole = await post('/api/chat', { ...asked, stream: false })
  expect(whole.body).toMatchObject({ done_reason: 'stop' })
  expect(whole.body.message).toEqual({
    role: 'assistant',
    content: '',
    thinking: 'Let me see.',
    tool_calls: calls,
  })
  const parts = await lines('/api/chat', asked)
  expect(parts.flatMap(({ message }) => message.thinking ?? [])).toEqual(['Let me ', 'see.'])
  expect(parts.flatMap(({ message }) => message.tool_calls ?? [])).toEqual(calls)
})

test('the only listed capability of an encoder is embedding', async () => {
  const { folder, post } = await scripted()
  addModel(folder, 'encoder', { 'general.architecture': 'bert', 'bert.pooling_type': 1 })
  expect((await post('/api/show', { model: 'encoder' })).body.capabilities).toEqual(['embedding'])
})

test('a model is loaded with the requested context, and reloaded with a longer one when idle', async () => {
  const pace = Promise.withResolvers<void>()
  const { folder, url, post, send } = await scripted({ pace: () => pace.promise })
  addModel(folder, 'long', {})
  const loadContextLength = async (num_ctx?: number) =>
    (await post('/api/load', { model: 'long', num_ctx })).body.context_length
  expect(await loadContextLength(256)).toBe(256)
  expect(await loadContextLength(128)).toBe(256)
  expect(await loadContextLength(1024)).toBe(1024)

  const busy = send('/api/chat', { model: 'long', messages: hello, options: { num_ctx: 512 } })
  const requests = async () => {
    const { models } = (await (await fetch(`${url}/api/ps`)).json()) as { models: object[] }
    return models
  }
  await expect.poll(requests).toMatchObject([{ requests: 1, idle_seconds: null }])
  expect(await loadContextLength(2048)).toBe(1024)
  pace.resolve()
  await (await busy).text()
  expect(await loadContextLength()).toBe(4096) // the model's own maximum, which is less than the daemon's setting
  expect(await loadContextLength(1_000_000)).toBe(4096)
})

test("shoal's own routes load a model that stays loaded, and unload it", async () => {
  const { post } = await scripted()
  const loaded = await post('/api/load', { model: `${model}:latest`, keep_alive: -1 })
  expect(loaded).toMatchObject({
    status: 200,
    body: { name: `${model}:latest`, requests: 0, file_size_bytes: expect.any(Number) },
  })
  expect(loaded.body.memory_bytes).toBe(loaded.body.size)
  expect((await post('/api/unload', { model })).body).toEqual({ model, unloaded: true })
  expect((await post('/api/unload', { model })).body).toEqual({ model, unloaded: false })
  expect((await post('/api/load', { model: 'nobody' })).status).toBe(404)
  expect((await post('/api/unload', { model: 'nobody' })).status).toBe(404)
})

test('a model with keep_alive 0 is unloaded after its answer in progress', async () => {
  const pace = Promise.withResolvers<void>()
  const { url, post, send } = await scripted({ pace: () => pace.promise })
  const loaded = async () => {
    const { models } = (await (await fetch(`${url}/api/ps`)).json()) as { models: object[] }
    return models.length
  }
  const answer = send('/api/chat', { model, messages: hello, stream: false })
  await expect.poll(loaded).toBe(1)
  const released = await post('/api/generate', { model, keep_alive: 0 })
  expect(released.body.done_reason).toBe('unload')
  expect(await loaded()).toBe(1)
  pace.resolve()
  expect((await answer).status).toBe(200)
  await expect.poll(loaded).toBe(0)
})
