import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePreset } from '@shoal/transfer'
import { expect, test } from 'vitest'
import type { Generation, RuntimeOptions } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

/** Starts a daemon that records how models are loaded, and what they are asked. */
async function start() {
  const loads: RuntimeOptions[] = []
  const asked: Generation[] = []
  const { url, folder } = await useTestDaemon({}, async (options) => {
    loads.push(options)
    const runtime = await scriptedRuntime()(options)
    return {
      ...runtime,
      generate(generation, signal) {
        asked.push(generation)
        return runtime.generate(generation, signal)
      },
    }
  })
  const post = async (path: string, body: object) => {
    const response = await postJson(url + path, { stream: false, ...body })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { url, loads, asked, folder, post }
}

const messages = [{ role: 'user', content: 'Hi' }]
const chats: [path: string, body: object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 5 }],
  ['/v1/responses', { input: 'Hi' }],
  ['/api/chat', { messages }],
  ['/api/generate', { prompt: 'Hi' }],
]

test('a created model has its own settings, which all APIs use unless a request has others', async () => {
  const { loads, asked, post } = await start()
  const parameters = { temperature: 0.2, stop: ['END'], num_ctx: 256 }
  const created = { model: 'pirate', from: 'shoal-nano', system: 'Be a pirate.', parameters }
  expect(await post('/api/create', created)).toEqual({ status: 200, body: { status: 'success' } })
  for (const [path, body] of chats) {
    expect((await post(path, { model: 'pirate', ...body })).status).toBe(200)
    expect(asked.at(-1)).toMatchObject({
      sampling: { temperature: 0.2 },
      prompt: { chat: { messages: [{ role: 'system', content: 'Be a pirate.' }, ...messages] } },
    })
  }
  expect(asked.map(({ stop }) => stop)).toContainEqual(['END'])
  expect(loads).toMatchObject([{ contextLength: 256 }])

  const own = [{ role: 'system', content: 'Be short.' }, ...messages]
  await post('/v1/chat/completions', { model: 'pirate', messages: own, temperature: 1 })
  expect(asked.at(-1)).toMatchObject({
    sampling: { temperature: 1 },
    prompt: { chat: { messages: own } },
  })
  const { body: shown } = await post('/api/show', { model: 'pirate' })
  expect(shown.system).toBe('Be a pirate.')
  expect(shown.parameters).toMatch(/^temperature +0\.2\nstop +"END"\nnum_ctx +256$/)
  expect(shown.modelfile).toContain('SYSTEM """Be a pirate."""\nPARAMETER temperature 0.2')
})

test('a Modelfile adds to the settings of its base, and a new template reloads the model', async () => {
  const { loads, asked, post } = await start()
  const modelfile = `# A comment
FROM shoal-nano
SYSTEM """Be brief.
Be kind."""

PARAMETER top_k 7
PARAMETER stop "<|end|>"
PARAMETER stop STOP
`
  expect((await post('/api/create', { name: 'brief', modelfile })).status).toBe(200)
  const template = '{% for m in messages %}{{ m.content }}{% endfor %}'
  await post('/v1/chat/completions', { model: 'brief', messages })
  await post('/api/create', { model: 'brief', from: 'brief', template })
  await post('/v1/chat/completions', { model: 'brief', messages })
  expect(loads.map((options) => options.template)).toEqual([undefined, template])
  expect(asked[1]).toMatchObject({
    sampling: { topK: 7 },
    stop: ['<|end|>', 'STOP'],
    prompt: { chat: { messages: [{ content: 'Be brief.\nBe kind.' }, ...messages] } },
  })
})

const refusals: [body: object, status: number, text: string][] = [
  [{ from: './other.gguf' }, 400, 'not a path'],
  [{ from: 'nobody-7b' }, 404, 'not found'],
  [{ from: `sha256:${'0'.repeat(64)}` }, 404, 'not found'],
  [{ from: 'shoal-nano', template: '{{ .Prompt }}' }, 400, 'Jinja'],
  [{ from: 'shoal-nano', parameters: { mirostat: 1 } }, 400, 'parameters.mirostat'],
  [{ from: 'shoal-nano', parameters: { warmth: 1 } }, 400, 'warmth is unknown'],
  [{ from: 'shoal-nano', parameters: { top_p: 2 } }, 422, 'top_p'],
  [{ from: 'shoal-nano', quantize: 'q4_0' }, 400, 'quantize'],
  [{ modelfile: 'FROM shoal-nano\nPARAMETER top_p 2' }, 400, 'top_p must be <= 1'],
  [{ modelfile: 'FROM shoal-nano\nADAPTER lora.gguf' }, 400, 'ADAPTER'],
  [{ modelfile: 'FROM shoal-nano\nnonsense' }, 400, 'nonsense'],
]

test('a request that names a path, or asks for something that is not supported, is refused', async () => {
  const { post } = await start()
  for (const [body, status, text] of refusals) {
    const answer = await post('/api/create', { model: 'created', ...body })
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(text) } })
  }
})

test('a model is created from an uploaded file', async () => {
  const { url, loads, folder, post } = await start()
  const file = readFileSync(join(folder, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  const digest = `sha256:${createHash('sha256').update(file).digest('hex')}`
  const blob = `${url}/api/blobs/${digest}`
  const send = (body: Uint8Array<ArrayBuffer>) => fetch(blob, { method: 'POST', body })
  const status = async () => (await fetch(blob, { method: 'HEAD' })).status
  expect([await status(), (await send(Buffer.from('hello'))).status]).toEqual([404, 400])
  expect([(await send(file)).status, await status()]).toEqual([201, 200])
  const created = { model: 'sent', files: { 'sent.gguf': digest }, system: 'Be kind.' }
  expect((await post('/api/create', created)).status).toBe(200)
  expect((await post('/v1/chat/completions', { model: 'sent', messages })).status).toBe(200)
  expect(loads).toMatchObject([{ modelPath: join(folder, 'sent', 'sent-Q8_0.gguf') }])
  expect(await status()).toBe(404)

  // After a crash, or if the answer was lost, the client repeats its requests.
  await send(file)
  const again = { ...created, system: 'Be brief.' }
  expect((await post('/api/create', again)).status).toBe(200)
  expect((await post('/api/show', { model: 'sent' })).body.system).toBe('Be brief.')
  await send(file)
  expect((await post('/api/create', { ...again, model: 'shoal-tiny' })).status).toBe(409)
})

test('a model is found by its aliases, unless another model has the name', async () => {
  const { loads, folder, post } = await start()
  await writePreset(join(folder, 'shoal-nano'), { aliases: ['gpt-4o', 'shoal-tiny'] })
  for (const model of ['gpt-4o', 'GPT-4o:latest', 'shoal-tiny']) {
    expect((await post('/v1/chat/completions', { model, messages })).status).toBe(200)
  }
  expect(loads.map(({ modelId }) => modelId)).toEqual(['shoal-nano', 'shoal-tiny'])
})
