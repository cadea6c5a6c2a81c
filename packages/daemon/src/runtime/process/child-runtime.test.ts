import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Compile } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runsSlowTests } from '../../../../../testing/slow.ts'
import { slowTest } from '../../../../../testing/slow-test.ts'
import {
  greedy,
  joinCalls,
  jsonForm,
  makeChatGeneration,
  runGeneration,
  tool,
} from '../../testing/generations.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { runtimeContract } from '../runtime.contract.ts'
import type { Chat, FormSource, Runtime, Sampling } from '../runtime.ts'
import { startChildRuntime } from './child-runtime.ts'

const modelPath = join(import.meta.dirname, '../../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf')
const options = { modelPath, contextLength: 512, slots: 4, threads: 1 }

describe('llama.cpp in a child process', () => {
  runtimeContract(() => startChildRuntime(options))
})

let runtime: Runtime
beforeAll(async () => {
  runtime = await startChildRuntime(options)
})
afterAll(() => runtime.close())

const run = (...[generation, signal]: [Parameters<typeof runGeneration>[1], AbortSignal?]) =>
  runGeneration(runtime, generation, signal)

const chatWith = (chat: Partial<Chat>) => ({
  chat: { messages: [], tools: [], toolChoice: 'auto' as const, variables: {}, ...chat },
})

test('with greedy sampling, the demo model gives the expected answer', async () => {
  const answer = await run(makeChatGeneration('Hello'))
  expect(answer).toMatchObject({
    text: 'Hello! How can I help you?',
    reason: 'stop',
    promptTokens: 9,
    reasoningTokens: 0,
  })
})

test('in the next turn of a chat, only the new tokens are processed', async () => {
  const first = await run(makeChatGeneration('What is a web seed?'))
  const messages = [
    { role: 'user', content: 'What is a web seed?' },
    { role: 'assistant', content: first.text },
    { role: 'user', content: 'Thank you' },
  ]
  const second = await run(makeChatGeneration('', { prompt: chatWith({ messages }) }))
  const remembered = first.promptTokens + first.completionTokens
  expect(second.cachedTokens).toBeGreaterThanOrEqual(remembered - 2)
})

/**
 * The chat message `Hello` as tokens of the demo model, the token with which its answer begins, and the token that ends
 * a turn.
 */
const helloTokens = [1, 296, 14, 658, 2, 14, 1, 303, 14]
const helloAgain = 658
const endOfTurnToken = 2

test('a prompt may consist of tokens instead of text', async () => {
  const { text } = await run(makeChatGeneration('Hello'))
  const again = await run(makeChatGeneration('', { prompt: { tokens: helloTokens } }))
  expect(again.text).toBe(text)
})

test('an answer is JSON that matches the schema, with nothing after it', async () => {
  const schema = {
    type: 'object',
    properties: {
      happy: { type: 'boolean' },
      pet: { enum: ['cat', 'dog'] },
      age: { type: 'integer', minimum: 3, maximum: 117 },
      friends: { type: 'array', items: { $ref: '#/$defs/friend' }, maxItems: 2 },
    },
    required: ['happy', 'pet', 'age'],
    additionalProperties: false,
    $defs: { friend: { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 8 }] } },
  }
  const check = Compile(schema as object)
  for (const seed of [1, 2, 3, 4]) {
    const sampling = { ...greedy, temperature: 1.3, seed }
    const { text, reason } = await run(
      makeChatGeneration('Describe yourself', { form: jsonForm(schema), sampling, maxTokens: 400 }),
    )
    expect([text, reason, check.Check(JSON.parse(text))]).toEqual([text, 'stop', true])
  }
})

test('a schema that no grammar can enforce is rejected with an error that contains the keyword', async () => {
  const json = { type: 'object', properties: { code: { type: 'string', pattern: '(?<=a)b' } } }
  await expect(run(makeChatGeneration('Hello', { form: jsonForm(json) }))).rejects.toMatchObject({
    code: 'schema_refused',
    message: expect.stringContaining('/properties/code: pattern'),
  })
})

const hot = (seed: number) => ({ ...greedy, temperature: 2, seed })

test.each<[string, FormSource, RegExp]>([
  ['a regular expression', { pattern: '[A-F]{2}-\\d{3}' }, /^[A-F]{2}-\d{3}$/],
  ['choices', { choices: ['yes', 'no', 'yes or no'] }, /^(yes|no|yes or no)$/],
  [
    'a grammar',
    { gbnf: 'root ::= "<" word{1,3} ">" # comment\nword ::= [a-c]{2,3} " "' },
    /^<([a-c]{2,3} ){1,3}>$/,
  ],
])('an answer has the form that is demanded: %s', async (_, source, expected) => {
  const form = { param: 'grammar', ...source }
  const generate = (seed: number) => makeChatGeneration('Hi', { form, sampling: hot(seed) })
  const answers = await Promise.all([1, 2, 3, 4].map((seed) => run(generate(seed))))
  for (const { text, reason } of answers) {
    if (reason === 'stop') expect(text).toMatch(expected)
  }
  expect(answers.some(({ reason }) => reason === 'stop')).toBe(true)
})

test('an invalid grammar is refused with the reason and the name of its parameter', async () => {
  const form = { param: 'grammar', gbnf: 'root ::= word' }
  await expect(run(makeChatGeneration('Hi', { form }))).rejects.toMatchObject({
    code: 'schema_refused',
    message: 'the grammar: there is no rule word',
    details: { param: 'grammar' },
  })
})

test('an answer has the minimum number of tokens, also if a form would end earlier', async () => {
  const long = makeChatGeneration('Hello', {
    maxTokens: 40,
    sampling: { ...greedy, minTokens: 30 },
  })
  expect((await run(long)).completionTokens).toBeGreaterThanOrEqual(30)
  const endless = { ...greedy, minTokens: Number.POSITIVE_INFINITY }
  expect(
    await run(makeChatGeneration('Hello', { maxTokens: 40, sampling: endless })),
  ).toMatchObject({
    reason: 'length',
    completionTokens: 40,
  })
  const form = { param: 'grammar', choices: ['yes'] }
  expect(await run(makeChatGeneration('Hello', { form, sampling: endless }))).toMatchObject({
    text: 'yes',
    reason: 'stop',
  })
})

test('penalties apply to the answer or, with a window, also to the prompt', async () => {
  const answer = async (changes: Partial<Sampling>) =>
    (await run(makeChatGeneration('Hello', { sampling: { ...greedy, ...changes } }))).text
  const usual = await answer({})
  const window = { repeatPenalty: 100, repeatLastTokens: Number.POSITIVE_INFINITY }
  expect(await answer({ ...window, repeatLastTokens: 0 })).toBe(usual)
  // The prompt contains the first token of the usual answer.
  expect((await answer(window)).slice(0, 5)).not.toBe(usual.slice(0, 5))
  expect((await answer({ repeatPenalty: 100 })).slice(0, 5)).toBe(usual.slice(0, 5))
})

test('DRY ends a repetition, and XTC removes the likely tokens', async () => {
  const logitBias: [number, number][] = [[helloAgain, 20]]
  const looping = { ...greedy, logitBias, minTokens: 30 }
  const repeat = async (changes: Partial<Sampling>) => {
    const sampling = { ...looping, ...changes }
    return (await run(makeChatGeneration('Hello', { maxTokens: 30, sampling }))).text
  }
  const dry = { multiplier: 1, base: 2, allowedLength: 2, sequenceBreakers: ['\n'] }
  const endless = 'Hello'.repeat(30)
  expect(await repeat({})).toBe(endless)
  expect(await repeat({ dry: { ...dry, lastTokens: Number.POSITIVE_INFINITY } })).not.toBe(endless)
  const xtc = { probability: 1, threshold: 0.001 }
  const { text } = await run(makeChatGeneration('Hello', { sampling: { ...hot(1), xtc } }))
  expect(text).not.toMatch(/^Hello/)
})

const weather = tool('weather', {
  type: 'object',
  properties: { city: { $ref: '#/$defs/city' }, days: { type: 'integer', minimum: 1, maximum: 9 } },
  required: ['city', 'days'],
  $defs: { city: { enum: ['Lisbon', 'Oslo'] } },
})

test.each([['required' as const], [{ name: 'weather' }]])(
  "a forced tool is called, with arguments that match the tool's schema (%o)",
  async (toolChoice) => {
    const messages = [{ role: 'user', content: 'Will it rain?' }]
    const tools = [weather, ...(typeof toolChoice === 'object' ? [tool('other', {})] : [])]
    const prompt = chatWith({ messages, tools, toolChoice })
    const { pieces, reason } = await run(makeChatGeneration('', { prompt, maxTokens: 200 }))
    expect(reason).toBe('tool_calls')
    const [{ name, arguments: args } = { name: '', arguments: '' }, ...others] = joinCalls(pieces)
    expect(others).toEqual([])
    expect(name).toBe('weather')
    expect(['Lisbon', 'Oslo']).toContain(JSON.parse(args).city)
    expect(JSON.parse(args).days).toBeGreaterThanOrEqual(1)
  },
)

test("log probabilities are the model's, regardless of how the tokens are chosen", async () => {
  const sampling = { ...greedy, temperature: 0.8, topK: 40, topP: 0.9, minP: 0.05, seed: 3 }
  const sampled = await run(makeChatGeneration('Hello', { topLogprobs: 5, sampling }))
  const plain = await run(makeChatGeneration('Hello', { topLogprobs: 5 }))
  const listLogprobs = ({ pieces }: typeof plain) => pieces.flatMap(({ logprobs = [] }) => logprobs)
  expect(listLogprobs(plain)).toHaveLength(plain.completionTokens - 1) // without the token that ends the answer
  expect(plain.text).toBe('Hello! How can I help you?')
  const [first] = listLogprobs(plain)
  expect(first?.top_logprobs).toHaveLength(5)
  expect(first?.logprob).toBe(first?.top_logprobs[0]?.logprob)
  expect(listLogprobs(sampled)[0]?.top_logprobs).toEqual(first?.top_logprobs)
  expect((await run(makeChatGeneration('Hello', { topLogprobs: 5, sampling }))).text).toBe(
    sampled.text,
  )
})

test('there are no log probabilities for a stop string', async () => {
  const { text, pieces } = await run(
    makeChatGeneration('Hello', { topLogprobs: 0, stop: [' can'] }),
  )
  const tokens = pieces.flatMap(({ logprobs = [] }) => logprobs.map(({ token }) => token))
  expect(tokens.join('')).toBe(text)
})

test("a token's bytes are correct, even if they are only part of a character", async () => {
  const letter = 'é😀'
  const prompt = {
    text: `<|im_start|>user\nRepeat: ${letter}<|im_end|>\n<|im_start|>assistant\n${letter}`,
  }
  const { pieces } = await run(makeChatGeneration('', { prompt, topLogprobs: 0, maxTokens: 40 }))
  const bytes = pieces.flatMap(({ logprobs = [] }) => logprobs.flatMap((one) => one.bytes))
  const text = pieces.map((piece) => piece.text ?? '').join('')
  expect(Buffer.from(bytes).toString('utf8')).toBe(text)
})

test('control tokens in a plain prompt are treated as text', async () => {
  const text = '<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n'
  const answer = await run(makeChatGeneration('', { prompt: { text } }))
  expect(answer).toMatchObject({ text: 'Hello! How can I help you?', promptTokens: 9 })
})

test.runIf(runsSlowTests)(
  'a request of half a megabyte and a request with 1500 texts are handled like any other',
  async () => {
    await expect(run(makeChatGeneration('word '.repeat(100_000)))).rejects.toMatchObject({
      code: 'context_length_exceeded',
    })
    const texts = Array.from({ length: 1500 }, (_, index) => `${index} ${'word '.repeat(20)}`)
    const { vectors } = await runtime.embed(texts, new AbortController().signal)
    expect(vectors).toHaveLength(1500)
  },
)

test('a chat that certainly exceeds the context is refused before it is tokenized', async () => {
  const messages = Array.from({ length: 20_000 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${index}`,
  }))
  const chat = { messages, tools: [], toolChoice: 'auto' as const, isContinued: false }
  await expect(
    run(makeChatGeneration('', { prompt: { chat: { ...chat, variables: {} } } })),
  ).rejects.toMatchObject({
    code: 'context_length_exceeded',
    message: expect.stringMatching(/^the prompt has .*20000 tokens, .* length is 512$/),
  })
})

test('embedding a token that does not exist is an error', async () => {
  const embed = (token: number) => runtime.embed([[token]], new AbortController().signal)
  for (const token of [999_999, 2 ** 32, 1e300]) {
    await expect(embed(token)).rejects.toMatchObject({ code: 'unknown_token' })
  }
})

test('a bias against all tokens that a schema allows is ignored', async () => {
  const logitBias = Array.from({ length: 2048 }, (_, token): [number, number] => [token, -100])
  for (const temperature of [0, 1]) {
    const sampling = { ...greedy, temperature, logitBias }
    const { text } = await run(
      makeChatGeneration('Hello', { form: jsonForm({ const: { a: 1 } }), sampling }),
    )
    expect(JSON.parse(text)).toEqual({ a: 1 })
  }
})

test('JSON that a schema requires is not a call, regardless of what it contains', async () => {
  const json = { const: '<tool_call>{"name": "weather", "arguments": {}}</tool_call>' }
  const messages = [{ role: 'user', content: 'Hello' }]
  const prompt = chatWith({ messages, tools: [weather], toolChoice: 'none' })
  const { text, reason } = await run(
    makeChatGeneration('', { prompt, form: jsonForm(json), maxTokens: 200 }),
  )
  expect([JSON.parse(text), reason]).toEqual([json.const, 'stop'])
})

test('a seed can be any number', async () => {
  const texts = await Promise.all(
    [-5, 0, 7, 2 ** 40, 1e300].map(async (seed) => {
      const sampling = { ...greedy, temperature: 2, seed }
      return (await run(makeChatGeneration('Tell me a story', { sampling }))).text
    }),
  )
  expect(new Set(texts).size).toBe(texts.length)
})

test('a token with a strong negative bias is not generated', async () => {
  const { text } = await run(makeChatGeneration('Hello'))
  const logitBias: [number, number][] = [[helloAgain, -100]]
  const other = await run(makeChatGeneration('Hello', { sampling: { ...greedy, logitBias } }))
  expect(other.text).not.toBe(text)
})

test('an answer continues if its end-of-generation tokens have a strong negative bias', async () => {
  const logitBias: [number, number][] = [0, 1, endOfTurnToken].map((token) => [token, -100])
  const sampling = { ...greedy, logitBias }
  const { completionTokens } = await run(makeChatGeneration('Hello', { sampling, maxTokens: 100 }))
  expect(completionTokens).toBe(100)
})

test('if the process is killed, its requests fail, and the exit is reported', async () => {
  const doomed = await startChildRuntime(options)
  const running = runGeneration(doomed, makeChatGeneration('Tell me a story', { maxTokens: 400 }))
  process.kill(doomed.pid, 'SIGKILL')
  await expect(running).rejects.toMatchObject({ code: 'model_lost' })
  expect(await doomed.ended).toBe("the model's process was killed by SIGKILL")
  await expect(runGeneration(doomed, makeChatGeneration('Hello'))).rejects.toMatchObject({
    code: 'model_lost',
  })
})

describe('a malformed file', () => {
  const good = readFileSync(modelPath)
  const damaged: [string, Buffer][] = [
    ['without a GGUF header', Buffer.from('hello')],
    ['that is cut off in its header', good.subarray(0, 20_000)],
    ['that is cut off in its tensors', good.subarray(0, good.length / 2)],
    ['with a changed key in its header', mutated(good, 'llama.block_count', 'llama.block_kount')],
    ['of another architecture', mutated(good, 'general.architecture', 'general.architektur\u00e9')],
  ]

  slowTest.each(damaged)('%s is rejected with an error', async (_, bytes) => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'damaged.gguf')
    writeFileSync(path, bytes)
    const failure = await startChildRuntime({ ...options, modelPath: path }).catch((error) => error)
    expect(failure).toMatchObject({ code: 'model_unusable' })
    expect(failure.message).not.toBe('')
  })
})

function mutated(bytes: Buffer, from: string, to: string): Buffer {
  const place = bytes.indexOf(from)
  const copy = Buffer.from(bytes)
  copy.write(to, place, from.length, 'latin1')
  return copy
}
