import { type LlamaContext, TokenBias, type Tokenizer } from 'node-llama-cpp'
import { expect, test } from 'vitest'
import { getBiases, yieldTopProbability } from './llama-internals.ts'

const bias = new TokenBias({} as Tokenizer)

test('the installed library has token biases', () => {
  expect(getBiases(bias)).toEqual(new Map())
})

test("a library without these members causes an error with the library's version", () => {
  const lacking = Object.create(bias, { _biases: { value: undefined } })
  expect(() => getBiases(lacking)).toThrow(
    /^TokenBias\._biases is missing from node-llama-cpp \d+\.\d+\.\d+/,
  )
  const missing = /^LlamaContext\.\S+ is missing from node-llama-cpp/
  for (const context of [{}, { _ctx: { sampleToken: () => 0 } }]) {
    expect(() => yieldTopProbability(context as unknown as LlamaContext)).toThrow(missing)
  }
})
