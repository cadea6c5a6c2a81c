/** Tests how prompts are shortened, with the demo model. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeChatGeneration, runGeneration } from '../../testing/generations.ts'
import { openVocabulary } from '../../testing/open-vocabulary.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Chat, Prompt, Runtime } from '../runtime.ts'

const modelPath = join(import.meta.dirname, '../../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf')
const contextLength = 256
/** The demo model's own context length. */
const ownLength = 512

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

test('a request is answered while a long text is tokenized', async () => {
  let isTokenized = false
  const text = { text: 'word '.repeat(800_000), addSpecial: false, parseSpecial: true }
  const long = runtime.tokenize(text).finally(() => {
    isTokenized = true
  })
  expect(await generate({ text: 'Hello' })).toMatchObject({ text: expect.any(String) })
  expect(isTokenized).toBe(false)
  await long
})

test('a prompt that is certainly too long is refused by its size', async () => {
  const text = 'word '.repeat(100_000)
  const refused = {
    code: 'context_length_exceeded',
    message: expect.stringMatching(/\d{5} tokens/),
  }
  await expect(generate({ text })).rejects.toMatchObject(refused)
  await expect(runtime.embed([text], new AbortController().signal)).rejects.toMatchObject(refused)
  await expect(runtime.countTokens({ text })).rejects.toMatchObject(refused)
})

test('only the beginning of a text is tokenized if that is too long', async () => {
  await using vocabulary = await openVocabulary(modelPath)
  const text = 'word '.repeat(10_000)
  const { tokens, isWhole, totalTokens } = await vocabulary.tokenizeBeginning(text, 1_000)
  expect([tokens.length > 1_000, tokens.length < 1_200, isWhole]).toEqual([true, true, false])
  expect(totalTokens / 10_000).toBeCloseTo(1, 1)
})

test('cutting a long text into blocks adds no tokens', async () => {
  const countWords = async (words: number) => {
    const text = 'word '.repeat(words)
    return (await runtime.tokenize({ text, addSpecial: false, parseSpecial: true })).length
  }
  expect(await countWords(100_000)).toBe((await countWords(10)) + 99_990)
})

test("a text to embed may be as long as the model's own context; the end of a longer one is dropped if that is allowed", async () => {
  const { signal } = new AbortController()
  const text = 'word '.repeat(600)
  await expect(runtime.embed([text], signal)).rejects.toMatchObject({
    code: 'context_length_exceeded',
  })
  const texts = ['Hello', text]
  const { promptTokens, truncated } = await runtime.embed(texts, signal, { truncates: true })
  const { promptTokens: short } = await runtime.embed(['Hello'], signal)
  expect([promptTokens - short, truncated]).toEqual([ownLength, [1]])
  const tokens = await runtime.tokenize({ text, addSpecial: true, parseSpecial: false })
  const longest = await runtime.embed([tokens.slice(0, ownLength)], signal)
  expect(longest.promptTokens).toBe(ownLength)
})
