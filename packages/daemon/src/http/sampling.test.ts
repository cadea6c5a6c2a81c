import { expect, test } from 'vitest'
import { checkSampling, toSampling } from './sampling.ts'

test('penalties apply to the tokens that the server considers from which their names are', () => {
  const window = (request: Parameters<typeof toSampling>[0]) => toSampling(request).repeatLastTokens
  expect(window({ presence_penalty: 1 })).toBeUndefined() // only the answer
  expect(window({ repeat_penalty: 1.1, presence_penalty: 1 })).toBe(64)
  expect(window({ repeat_penalty: 1.1, repeat_last_n: 9 })).toBe(9)
  expect(window({ repeat_penalty: 1.1, repeat_last_n: -1 })).toBe(Number.POSITIVE_INFINITY)
  expect(window({ repetition_penalty: 1.1 })).toBe(Number.POSITIVE_INFINITY)
  const off = { repeat_last_n: 0, repeat_penalty: 2, presence_penalty: 1, frequency_penalty: 1 }
  const none = { repeatPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 }
  expect(toSampling(off)).toMatchObject(none)
})

test('samplers that are not listed are turned off, and their order is fixed', () => {
  const request = { top_k: 5, top_p: 0.5, min_p: 0.5, temperature: 2, xtc_probability: 1 }
  const { xtc, ...sampling } = toSampling({ ...request, samplers: ['top_k', 'min_p'] })
  expect(sampling).toMatchObject({ topK: 5, topP: 1, minP: 0.5, temperature: 1 })
  expect(xtc).toBeUndefined()
  for (const samplers of [['min_p', 'top_k'], ['infill'], ['top_k', 'top_k']]) {
    expect(() => toSampling({ samplers })).toThrow('samplers must be some of')
  }
})

test('DRY cannot be combined with log probabilities', () => {
  const generation = {
    ...{ prompt: { text: '' }, maxTokens: 1, stop: [], form: undefined },
    sampling: toSampling({ dry_multiplier: 1 }),
  }
  expect(checkSampling({ ...generation, topLogprobs: undefined })).toBeDefined()
  expect(() => checkSampling({ ...generation, topLogprobs: 0 })).toThrow('dry_multiplier')
})
