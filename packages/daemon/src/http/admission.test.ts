/** Tests that a stream starts when the request is admitted, not when the first token is generated. */
import { expect, onTestFinished, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

const ask = (content: string) => [{ role: 'user', content }]

const requests = [
  ['/v1/chat/completions', (text: string) => ({ messages: ask(text) })],
  ['/v1/chat/completions', (text: string) => ({ messages: ask(text), n: 3 })],
  ['/v1/completions', (text: string) => ({ prompt: text })],
  ['/v1/responses', (text: string) => ({ input: text })],
  ['/v1/messages', (text: string) => ({ messages: ask(text), max_tokens: 5 })],
  ['/api/chat', (text: string) => ({ messages: ask(text) })],
  ['/api/generate', (text: string) => ({ prompt: text })],
] as const

async function start(script: Parameters<typeof scriptedRuntime>[0]) {
  const { url, close } = await startTestDaemon({}, scriptedRuntime(script))
  onTestFinished(close)
  return (path: string, body: object) =>
    postJson(`${url}${path}`, { model: 'shoal-tiny', stream: true, ...body })
}

test.each(requests)('%s sends the headers before the first token', async (path, toBody) => {
  const firstToken = Promise.withResolvers<void>()
  const post = await start({ pace: () => firstToken.promise })
  const response = await post(path, toBody('Hi'))
  expect(response.status).toBe(200)
  firstToken.resolve()
  expect(await response.text()).toContain('Hello')
})

test('a chat sends the role before the first token', async () => {
  const firstToken = Promise.withResolvers<void>()
  const post = await start({ pace: () => firstToken.promise })
  const response = await post('/v1/chat/completions', { messages: ask('Hi') })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toContain('"delta":{"role":"assistant","content":""}')
  firstToken.resolve()
  await reader?.cancel()
})

test.each(requests)('%s refuses an overlong prompt with an error status', async (path, toBody) => {
  const post = await start({})
  expect((await post(path, toBody('word '.repeat(100_000)))).status).toBe(400)
})

test.each(requests)('%s reports a later error in the stream', async (path, toBody) => {
  const post = await start({ diesAfter: 0 })
  const response = await post(path, toBody('Hi'))
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('SIGSEGV')
})
