/** Tests Ollama's official client with a real daemon and the demo model. */
import { type ModelResponse, Ollama } from 'ollama'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
let ollama: Ollama
beforeAll(async () => {
  daemon = await startTestDaemon()
  ollama = new Ollama({ host: daemon.url })
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'
const greeting = 'Hello! How can I help you?'
const hello = [{ role: 'user', content: 'Hello' }]
const options = { temperature: 0 }

async function loadedNames() {
  return (await ollama.ps()).models.map(({ name }) => name)
}

test('the version consists of whole numbers separated by dots, and is new enough for Codex', async () => {
  const { version } = await ollama.version()
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(version.localeCompare('0.13.4', 'en', { numeric: true })).toBeGreaterThanOrEqual(0)
})

test('every model on this machine is listed, and its name has a tag', async () => {
  const { models } = await ollama.list()
  const names = models.map(({ name }) => name).toSorted()
  expect(names).toEqual(['shoal-nano:latest', 'shoal-tiny:Q4_0', 'shoal-tiny:latest'])
  expect(models.find(({ name }) => name === 'shoal-tiny:latest')).toMatchObject({
    model: 'shoal-tiny:latest',
    size: expect.any(Number),
    digest: '',
    details: {
      format: 'gguf',
      family: 'llama',
      parameter_size: '5.25M',
      quantization_level: 'Q8_0',
    },
  })
})

test('/api/show describes a model', async () => {
  const shown = await ollama.show({ model: `${model}:latest` })
  expect(shown).toMatchObject({
    license: 'apache-2.0',
    template: expect.stringContaining('<|im_start|>'),
    parameters: expect.stringMatching(/^num_ctx +512$/),
    modelfile: expect.stringContaining('FROM shoal-tiny-Q8_0.gguf'),
    capabilities: ['completion'],
    model_info: {
      'general.architecture': 'llama',
      'general.parameter_count': 5_246_208,
      'llama.context_length': 512,
      'tokenizer.ggml.tokens': null,
    },
  })
})

test('/api/show returns the vocabulary and the tensors only on request', async () => {
  const body = JSON.stringify({ name: model, verbose: true })
  const answer = await fetch(`${daemon.url}/api/show`, { method: 'POST', body })
  const { model_info, tensors } = (await answer.json()) as {
    model_info: Record<string, unknown[]>
    tensors: object[]
  }
  expect(model_info['tokenizer.ggml.tokens']).toHaveLength(2048)
  expect(tensors).toContainEqual({ name: 'token_embd.weight', type: 'Q8_0', shape: [256, 2048] })
})

test('a chat can be answered with a single object', async () => {
  const answer = await ollama.chat({ model, messages: hello, options })
  expect(answer).toMatchObject({
    model,
    message: { role: 'assistant', content: greeting },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 9,
  })
  expect(answer.eval_count).toBeGreaterThan(3)
  for (const duration of [answer.total_duration, answer.eval_duration]) {
    expect(Number.isInteger(duration)).toBe(true)
    expect(duration).toBeGreaterThan(100_000)
  }
  expect(answer.total_duration).toBeGreaterThan(answer.load_duration)
})

test('a chat can be answered with a stream', async () => {
  const parts = []
  for await (const part of await ollama.chat({ model, messages: hello, options, stream: true })) {
    parts.push(part)
  }
  expect(parts.length).toBeGreaterThan(4)
  expect(parts.map(({ message }) => message.content).join('')).toBe(greeting)
  expect(parts.slice(0, -1).every(({ done }) => !done)).toBe(true)
  expect(parts.at(-1)).toMatchObject({
    done: true,
    done_reason: 'stop',
    message: { role: 'assistant', content: '' },
    prompt_eval_count: 9,
  })
})

test('a chat supports a JSON schema, log probabilities, and a maximum number of tokens', async () => {
  const format = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }
  const json = await ollama.chat({ model, messages: hello, format })
  expect(JSON.parse(json.message.content)).toEqual({ yes: expect.any(Boolean) })

  const short = await ollama.chat({
    model,
    messages: hello,
    options: { ...options, num_predict: 3 },
    logprobs: true,
    top_logprobs: 2,
  })
  expect(short).toMatchObject({ done_reason: 'length', eval_count: 3 })
  expect(short.logprobs).toHaveLength(3)
  expect(short.logprobs?.[0]?.top_logprobs).toHaveLength(2)
})

test('a prompt is completed, with a system message or in raw mode', async () => {
  const answer = await ollama.generate({ model, prompt: 'Hello', options })
  expect(answer).toMatchObject({ response: greeting, done: true, done_reason: 'stop' })
  // Ollama returns `context`, which this daemon does not accept in requests.
  expect(answer).not.toHaveProperty('context')
  const withSystem = await ollama.generate({
    model,
    prompt: 'Hello',
    system: 'You are a pirate',
    options,
  })
  expect(withSystem.prompt_eval_count).toBeGreaterThan(answer.prompt_eval_count)

  const raw = await ollama.generate({
    model,
    prompt: 'Once upon a time',
    raw: true,
    options: { ...options, num_predict: 5 },
  })
  expect(raw.eval_count).toBe(5)
  expect(raw).not.toHaveProperty('context')
})

test('embeddings have length 1, even if they are truncated', async () => {
  const { embeddings } = await ollama.embed({ model, input: ['Hello', 'A shoal of fish'] })
  expect(embeddings.map((vector) => vector.length)).toEqual([256, 256])
  expect(Math.hypot(...(embeddings[0] ?? []))).toBeCloseTo(1)
  const short = await ollama.embed({ model, input: 'Hello', dimensions: 8 })
  expect(short.embeddings[0]).toHaveLength(8)
  expect(Math.hypot(...(short.embeddings[0] ?? []))).toBeCloseTo(1)
  const old = await ollama.embeddings({ model, prompt: 'Hello' })
  expect(old.embedding).toEqual(embeddings[0])
})

test('a loaded model is listed until it is unloaded with keep_alive 0', async () => {
  const startedAt = Date.now()
  await ollama.chat({ model, messages: hello, keep_alive: '1h' })
  const [loaded] = (await ollama.ps()).models as (ModelResponse & { idle_seconds: number })[]
  expect(loaded?.idle_seconds).toBeLessThanOrEqual(Math.ceil((Date.now() - startedAt) / 1000))
  expect(loaded).toMatchObject({
    name: 'shoal-tiny:latest',
    context_length: 512,
    size_vram: 0,
    requests: 0,
    idle_seconds: expect.any(Number),
    loaded_at: expect.stringContaining('T'),
  })
  const left = Date.parse(String(loaded?.expires_at)) - Date.now()
  expect(left).toBeGreaterThan(3_500_000)

  const last = await ollama.chat({ model, messages: hello, options, keep_alive: 0 })
  expect(last.message.content).toBe(greeting)
  await expect.poll(loadedNames).toEqual([])
})

test('an empty request loads a model, and with keep_alive 0 unloads it', async () => {
  const loaded = await ollama.generate({ model, prompt: '', keep_alive: -1 })
  expect(loaded).toMatchObject({ done: true, done_reason: 'load', response: '' })
  const [entry] = (await ollama.ps()).models
  expect(new Date(entry?.expires_at ?? 0).getFullYear()).toBeGreaterThan(2200)
  const unloaded = await ollama.chat({ model, messages: [], keep_alive: 0 })
  expect(unloaded).toMatchObject({ done: true, done_reason: 'unload' })
  expect(await loadedNames()).toEqual([])
})

test('after a client has disconnected, no slot is in use', async () => {
  const story = [{ role: 'user', content: 'Tell me a story' }]
  for (let round = 0; round < 10; round += 1) {
    const stream = await ollama.chat({ model, messages: story, stream: true })
    for await (const _ of stream) break
    stream.abort()
  }
  const requests = async () =>
    (await ollama.ps()).models.map((one) => (one as unknown as { requests: number }).requests)
  await expect.poll(requests).toEqual([0])
  const answer = await ollama.chat({ model, messages: hello, options })
  expect(answer.message.content).toBe(greeting)
})

test('an unknown model causes an error with the text that clients look for', async () => {
  const message = "model 'nobody-7b' not found, try pulling it first: shoal pull nobody-7b"
  const missing = { model: 'nobody-7b' }
  const calls: (() => Promise<unknown>)[] = [
    () => ollama.chat({ ...missing, messages: hello }),
    () => ollama.chat({ ...missing, messages: hello, stream: true }),
    () => ollama.generate({ ...missing, prompt: 'Hello' }),
    () => ollama.embed({ ...missing, input: 'Hello' }),
    () => ollama.show(missing),
    () => ollama.delete(missing),
    () => ollama.copy({ source: 'nobody-7b', destination: 'somebody' }),
  ]
  for (const call of calls) {
    await expect.soft(call()).rejects.toMatchObject({ status_code: 404, message })
  }
})
