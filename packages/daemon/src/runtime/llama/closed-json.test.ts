/** Tests with the demo model that JSON is closed before the maximum number of tokens is reached. */
import { join } from 'node:path'
import { Compile } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  greedy,
  joinCalls,
  jsonForm,
  makeChatGeneration,
  runGeneration,
  tool,
} from '../../testing/generations.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Chat, Runtime } from '../runtime.ts'

const modelPath = join(import.meta.dirname, '../../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf')

let runtime: Runtime
beforeAll(async () => {
  runtime = await startChildRuntime({ modelPath, contextLength: 512, slots: 4, threads: 1 })
})
afterAll(() => runtime.close())

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    lines: { type: 'array', items: { type: 'string' }, minItems: 1 },
  },
  required: ['title', 'lines'],
}
const validator = Compile(schema)

const chat: Chat = {
  messages: [{ role: 'user', content: 'Write a long story about a web seed' }],
  tools: [tool('write', schema)],
  toolChoice: 'required',
  maxCalls: 1,
  variables: {},
}

const limits = [48, 56, 64, 80]
const seeds = [1, 2, 3, 4]
const samplings = seeds.map((seed) => ({ ...greedy, temperature: 1.5, seed }))

describe.each(limits)('with at most %d tokens', (maxTokens) => {
  test('a forced call is complete', async () => {
    for (const sampling of samplings) {
      const generation = makeChatGeneration('', { prompt: { chat }, maxTokens, sampling })
      const { pieces, reason, completionTokens } = await runGeneration(runtime, generation)
      const [call] = joinCalls(pieces)
      expect(call?.name).toBe('write')
      expect(validator.Check(JSON.parse(call?.arguments ?? ''))).toBe(true)
      expect(reason).toBe('tool_calls')
      expect(completionTokens).toBeLessThanOrEqual(maxTokens)
    }
  })

  test('JSON that is not a call is closed, and reported as cut off', async () => {
    for (const sampling of samplings) {
      const changes = { form: jsonForm(schema), maxTokens, sampling }
      const generation = makeChatGeneration('Write a long story', changes)
      const { text, reason, completionTokens } = await runGeneration(runtime, generation)
      expect(validator.Check(JSON.parse(text))).toBe(true)
      expect(completionTokens).toBeLessThanOrEqual(maxTokens)
      if (reason === 'length') expect(completionTokens).toBeGreaterThan(maxTokens - 16)
    }
  })
})

test('a limit that is too low for the schema cuts the call off', async () => {
  const generation = makeChatGeneration('', { prompt: { chat }, maxTokens: 8 })
  const { pieces, reason } = await runGeneration(runtime, generation)
  expect(reason).toBe('length')
  expect(() => JSON.parse(joinCalls(pieces)[0]?.arguments ?? '')).toThrow()
})
