/** Tests that every runtime must pass. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { greedy, makeChatGeneration, runGeneration } from '../testing/generations.ts'
import type { Runtime } from './runtime.ts'

/**
 * Defines the tests for a runtime. `start` creates a runtime with a context of 512 tokens and four slots, for a model
 * that answers "Hello" with a few words.
 */
export function runtimeContract(start: () => Promise<Runtime>) {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await start()
  })
  afterAll(() => runtime.close())
  const never = new AbortController().signal

  test('the runtime reports its limits and whether it can generate text', () => {
    expect(runtime.facts).toMatchObject({ contextLength: 512, slots: 4, canGenerate: true })
  })

  test('the same greedy request has the same answer, alone or in parallel with other requests', async () => {
    const one = await runGeneration(runtime, makeChatGeneration('Hello'))
    expect(one.text).not.toBe('')
    expect(one.reason).toBe('stop')
    const eight = await Promise.all(
      Array.from({ length: 8 }, () => runGeneration(runtime, makeChatGeneration('Hello'))),
    )
    expect(eight.map(({ text }) => text)).toEqual(eight.map(() => one.text))
  })

  test('an answer has no more tokens than requested', async () => {
    const answer = await runGeneration(runtime, makeChatGeneration('Hello', { maxTokens: 2 }))
    expect(answer).toMatchObject({ reason: 'length', completionTokens: 2 })
  })

  test('the answer ends before a stop string', async () => {
    const { text } = await runGeneration(runtime, makeChatGeneration('Hello'))
    const stop = text.slice(3, 6)
    const stopped = await runGeneration(runtime, makeChatGeneration('Hello', { stop: [stop] }))
    expect(stopped).toMatchObject({ text: text.slice(0, text.indexOf(stop)), reason: 'stop' })
  })

  test('a prompt that is longer than the context is rejected with both token counts', async () => {
    const refused = runGeneration(runtime, makeChatGeneration('word '.repeat(700)))
    await expect(refused).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringMatching(/\d{3} tokens.* 512/),
    })
  })

  test('the first part of an answer has the token counts of the prompt, unless the request is refused', async () => {
    const first = (content: string) => runtime.generate(makeChatGeneration(content), never).next()
    const prompt = { promptTokens: expect.any(Number), cachedTokens: expect.any(Number) }
    expect(await first('Hello')).toEqual({ done: false, value: { prompt } })
    await expect(first('word '.repeat(700))).rejects.toThrow('512')
  })

  test('a canceled request leaves no slot in use', async () => {
    for (let round = 0; round < 12; round += 1) {
      const leaving = new AbortController()
      const steps = runtime.generate(
        makeChatGeneration('Hello', { maxTokens: 400 }),
        leaving.signal,
      )
      await steps.next()
      leaving.abort(new Error('gone'))
      await expect(steps.next()).rejects.toThrow('gone')
    }
    expect((await runGeneration(runtime, makeChatGeneration('Hello'))).reason).toBe('stop')
  })

  test('embeddings have length 1, and the same text has the same embedding', async () => {
    const { vectors, promptTokens } = await runtime.embed(['a web seed', 'a web seed', 'x'], never)
    const [first, second, third] = vectors
    expect(first).toEqual(second)
    expect(first).not.toEqual(third)
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    expect(promptTokens).toBeGreaterThan(2)
  })

  test('the same seed gives the same sampled answer', async () => {
    const sampled = (seed: number) =>
      runGeneration(
        runtime,
        makeChatGeneration('Hello', { sampling: { ...greedy, temperature: 1.5, seed } }),
      )
    expect((await sampled(7)).text).toBe((await sampled(7)).text)
  })
}
