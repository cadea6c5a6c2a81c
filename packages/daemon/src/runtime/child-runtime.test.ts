import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChildRuntime } from './child-runtime.ts'
import {
  type Finish,
  type Generation,
  type Piece,
  type Runtime,
  RuntimeGoneError,
} from './runtime.ts'

const modelPath = join(import.meta.dirname, '../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf')
const options = { modelPath, contextLength: 512, slots: 4, threads: 1 }
const greedy = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  seed: undefined,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: [],
}

function chat(content: string, changes: Partial<Generation> = {}): Generation {
  return {
    prompt: { messages: [{ role: 'user', content }] },
    maxTokens: 60,
    stop: [],
    sampling: greedy,
    json: undefined,
    topLogprobs: undefined,
    ...changes,
  }
}

let runtime: Runtime
beforeAll(async () => {
  runtime = await startChildRuntime(options)
})
afterAll(() => runtime.close())

async function run(generation: Generation, signal = new AbortController().signal, on = runtime) {
  const pieces: Piece[] = []
  const steps = on.generate(generation, signal)
  for (;;) {
    const step = await steps.next()
    if (step.done) return { text: pieces.map(({ text }) => text).join(''), pieces, ...step.value }
    pieces.push(step.value)
  }
}

test('greedy text of the demo model', async () => {
  const answer: Finish & { text: string } = await run(chat('Hello'))
  expect(answer).toMatchObject({ text: 'Hello! How can I help you?', reason: 'stop' })
  expect(answer.promptTokens).toBe(9)
})

test('the next turn reads only what is new', async () => {
  const first = await run(chat('What is a web seed?'))
  const messages = [
    { role: 'user', content: 'What is a web seed?' },
    { role: 'assistant', content: first.text },
    { role: 'user', content: 'Thank you' },
  ]
  const second = await run(chat('', { prompt: { messages } }))
  expect(second.cachedTokens).toBeGreaterThanOrEqual(
    first.promptTokens + first.completionTokens - 2,
  )
})

test('eight at once give the text of one', async () => {
  const { text } = await run(chat('Tell me a story'))
  expect(text.length).toBeGreaterThan(20)
  const texts = await Promise.all(Array.from({ length: 8 }, () => run(chat('Tell me a story'))))
  expect(texts.map((one) => one.text)).toEqual(Array.from({ length: 8 }, () => text))
})

test('stop strings end it, and are not part of it', async () => {
  const { text, reason } = await run(chat('Hello', { stop: ['can I'] }))
  expect({ text, reason }).toEqual({ text: 'Hello! How ', reason: 'stop' })
})

test('the same seed gives the same text', async () => {
  const sampled = (seed: number) =>
    run(chat('Tell me a story', { sampling: { ...greedy, temperature: 1.2, seed } }))
  const [one, same, other] = [await sampled(7), await sampled(7), await sampled(8)]
  expect(one.text).toBe(same.text)
  expect(one.text).not.toBe(other.text)
})

test('JSON of a schema, and nothing after it', async () => {
  const schema = {
    type: 'object',
    properties: { happy: { type: 'boolean' }, pet: { enum: ['cat', 'dog'] } },
    required: ['happy', 'pet'],
  }
  const { text } = await run(chat('Describe yourself', { json: schema, maxTokens: 200 }))
  expect(JSON.parse(text)).toMatchObject({ happy: expect.any(Boolean) })
  expect(text.endsWith('}')).toBe(true)
})

test('log probabilities come with each token', async () => {
  const { pieces, completionTokens } = await run(chat('Hello', { topLogprobs: 3 }))
  const logprobs = pieces.flatMap(({ logprobs = [] }) => logprobs)
  expect(logprobs).toHaveLength(completionTokens)
  expect(logprobs[0]?.top_logprobs).toHaveLength(3)
  expect(logprobs[0]?.logprob).toBe(logprobs[0]?.top_logprobs[0]?.logprob)
})

test('a prompt beyond the context is refused with both counts', async () => {
  const refused = run(chat('word '.repeat(700)))
  await expect(refused).rejects.toMatchObject({
    code: 'context_length_exceeded',
    message: expect.stringMatching(/\d{3} tokens.* 512/),
  })
})

test('who goes away frees the slot within a token', async () => {
  const before = await run(chat('Hello'))
  for (let round = 0; round < 12; round += 1) {
    const leaving = new AbortController()
    const steps = runtime.generate(chat('Tell me a story', { maxTokens: 400 }), leaving.signal)
    await steps.next()
    leaving.abort(new Error('gone'))
    await expect(steps.next()).rejects.toThrow('gone')
  }
  expect((await run(chat('Hello'))).text).toBe(before.text)
})

test('a process that is killed ends its requests with a sentence, and tells', async () => {
  const doomed = await startChildRuntime(options)
  const running = run(chat('Tell me a story', { maxTokens: 400 }), undefined, doomed)
  process.kill(doomed.pid, 'SIGKILL')
  await expect(running).rejects.toThrow(RuntimeGoneError)
  expect(await doomed.ended).toBe('the process of the model was ended by SIGKILL')
})

test('a file that is no model is refused, and the process goes', async () => {
  const failing = startChildRuntime({ ...options, modelPath: import.meta.filename })
  await expect(failing).rejects.toThrow()
})
