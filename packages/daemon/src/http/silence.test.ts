/** Tests that a stream in which nothing is sent for a while shows that the daemon is working. */
import { expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const messages = [{ role: 'user', content: 'Hi' }]

const apis: [path: string, body: object, sign: RegExp, failure: RegExp][] = [
  [
    '/v1/chat/completions',
    { messages },
    /^data: .*"choices":\[\{"index":0,"delta":\{\},"logprobs":null,"finish_reason":null\}\]\}$/gm,
    /^data: \{"error":\{.*broken.*"code":"model_not_loaded"\}\}$/m,
  ],
  [
    '/v1/completions',
    { prompt: 'Hi' },
    /^data: .*"choices":\[\{"index":0,"text":"","logprobs":null,"finish_reason":null\}\]\}$/gm,
    /^data: \{"error":\{.*broken.*"code":"model_not_loaded"\}\}$/m,
  ],
  [
    '/v1/responses',
    { input: 'Hi' },
    /^event: response.in_progress\ndata: .*"status":"in_progress".*"sequence_number":\d+\}$/gm,
    /^event: response.failed\ndata: .*"code":"model_not_loaded"/m,
  ],
  [
    '/v1/messages',
    { messages, max_tokens: 9 },
    /^event: ping\ndata: \{"type":"ping"\}$/gm,
    /^event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error".*broken/m,
  ],
  [
    '/api/chat',
    { messages },
    /^\{.*"message":\{"role":"assistant","content":""\},"done":false\}$/gm,
    /^\{"error":.*broken.*"code":"model_not_loaded"\}$/m,
  ],
  [
    '/api/generate',
    { prompt: 'Hi' },
    /^\{.*"response":"","done":false\}$/gm,
    /^\{"error":.*broken.*"code":"model_not_loaded"\}$/m,
  ],
]

const model = 'shoal-tiny'

test.each(apis)('%s sends signs while a prompt is read', async (path, body, sign) => {
  const read = Promise.withResolvers<void>()
  const script = { pace: () => read.promise }
  const { url } = await useTestDaemon({ silenceMs: 5 }, scriptedRuntime(script))
  const response = await postJson(url + path, { model, stream: true, ...body })
  let text = ''
  for await (const part of (response.body as ReadableStream).pipeThrough(new TextDecoderStream())) {
    text += part
    if ([...text.matchAll(sign)].length > 2) read.resolve()
  }
  const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number))
  expect(numbers).toEqual(numbers.map((_, index) => index))
  if (/completions$/.test(path)) expect(text.replace(/^data: .*\n\n/gm, '')).toBe('')
  expect(text).toContain('Hello')
})

test.each(apis)(
  '%s sends signs while a model is loaded, and then the error if that fails',
  async (path, body, sign, failure) => {
    const loaded = Promise.withResolvers<void>()
    const { url } = await useTestDaemon({ silenceMs: 5 }, async () => {
      await loaded.promise
      throw new Error('the file is broken')
    })
    const response = await postJson(url + path, { model, stream: true, ...body })
    expect(response.status).toBe(200)
    let text = ''
    for await (const part of (response.body as ReadableStream).pipeThrough(
      new TextDecoderStream(),
    )) {
      text += part
      if (text.match(sign)) loaded.resolve()
    }
    expect(text).toMatch(failure)
  },
)
