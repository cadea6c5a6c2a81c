/** Tests how prompts are shortened, with the demo model. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeChatGeneration, runGeneration } from '../../testing/generations.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Chat, Prompt, Runtime } from '../runtime.ts'

const modelPath = join(import.meta.dirname, '../../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf')
const contextLength = 256

let runtime: Runtime
beforeAll(async () => {
  runtime = await startChildRuntime({ modelPath, contextLength, slots: 1, threads: 1 })
})
afterAll(() => runtime.close())

const generate = (prompt: Prompt, others = {}) =>
  runGeneration(runtime, makeChatGeneration('', { prompt, maxTokens: 20, ...others }))

const chatOf = (messages: Chat['messages']): Prompt => ({
  chat: { messages, tools: [], toolChoice: 'auto', variables: {} },
})

const system = { role: 'system', content: 'Be short.' }
const turn = (index: number, words = 10) => [
  { role: 'user', content: `Question ${index}: ${'word '.repeat(words)}` },
  { role: 'assistant', content: `Answer ${index}.` },
]
const last = { role: 'user', content: 'Hello' }
const turns = (from: number) => Array.from({ length: 30 - from }, (_, index) => turn(from + index))

test('a chat that is too long is refused, unless it may be truncated', async () => {
  const prompt = chatOf([system, ...turns(0).flat(), last])
  await expect(generate(prompt)).rejects.toMatchObject({ code: 'context_length_exceeded' })
  expect(await generate(prompt, { truncates: true })).toMatchObject({ text: expect.any(String) })
})

test('as few messages as possible are dropped: the oldest, but no system messages', async () => {
  const all = chatOf([system, ...turns(0).flat(), last])
  const { promptTokens } = await generate(all, { truncates: true })
  const counts = await Promise.all(
    turns(0).map((_, from) => runtime.countTokens(chatOf([system, ...turns(from).flat(), last]))),
  )
  expect(promptTokens).toBe(counts.find((count) => count <= contextLength - 20))
})

test('a chat that fits is not changed', async () => {
  const prompt = chatOf([system, ...turn(1), last])
  const { promptTokens } = await generate(prompt, { truncates: true })
  expect(promptTokens).toBe(await runtime.countTokens(prompt))
})

test("if the user's last message alone is too long, the chat is refused", async () => {
  const prompt = chatOf([system, ...turn(1), { role: 'user', content: 'word '.repeat(500) }])
  await expect(generate(prompt, { truncates: true })).rejects.toMatchObject({
    code: 'context_length_exceeded',
  })
})

test.each([400, 1_000_000])('the beginning of a text of %d words is dropped', async (words) => {
  const text = `${'word '.repeat(words)}the end`
  const { promptTokens } = await generate({ text }, { truncates: true })
  expect(promptTokens).toBe(contextLength - 20)
})

test.each(['count', 'embed'] as const)(
  'a request is answered while a long text is tokenized (%s)',
  async (purpose) => {
    const text = 'word '.repeat(800_000)
    const { signal } = new AbortController()
    let isTokenized = false
    const long = (
      purpose === 'count'
        ? runtime.countTokens({ text })
        : runtime.embed([text], signal, { truncates: true })
    ).finally(() => {
      isTokenized = true
    })
    expect(await generate({ text: 'Hello' })).toMatchObject({ text: expect.any(String) })
    expect(isTokenized).toBe(false)
    await long
  },
)

test('cutting a long text into blocks adds no tokens', async () => {
  const countWords = (words: number) => runtime.countTokens({ text: 'word '.repeat(words) })
  expect(await countWords(100_000)).toBe((await countWords(10)) + 99_990)
})

test('the end of a text to embed is dropped if truncation is allowed', async () => {
  const { signal } = new AbortController()
  const text = 'word '.repeat(500)
  await expect(runtime.embed([text], signal)).rejects.toMatchObject({
    code: 'context_length_exceeded',
  })
  const { promptTokens } = await runtime.embed([text], signal, { truncates: true })
  expect(promptTokens).toBe(contextLength - 1)
})
