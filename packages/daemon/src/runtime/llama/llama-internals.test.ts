import { TokenBias, type Tokenizer } from 'node-llama-cpp'
import { expect, test } from 'vitest'
import { getBiases } from './llama-internals.ts'

const bias = new TokenBias({} as Tokenizer)

test('the installed library has token biases', () => {
  expect(getBiases(bias)).toEqual(new Map())
})

test("a library without token biases causes an error with the library's version", () => {
  const lacking = Object.create(bias, { _biases: { value: undefined } })
  expect(() => getBiases(lacking)).toThrow(
    /^TokenBias\._biases is missing from node-llama-cpp \d+\.\d+\.\d+/,
  )
})
