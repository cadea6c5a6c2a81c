import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { memoryFolder } from '../../../../../testing/small-disk.ts'
import { makeChatGeneration, runGeneration } from '../../testing/generations.ts'
import { openLlamaModel } from './llama-model.ts'

const models = join(import.meta.dirname, '../../../../../models')
const modelPath = join(models, 'shoal-nano/shoal-nano-Q8_0.gguf')
const options = { modelPath, contextLength: 512, slots: 1, threads: 1 }
const words = (word: string, count: number) => Array(count).fill(word).join(' ')
const one = makeChatGeneration(`One: ${words('tide', 60)}`, { maxTokens: 8 })
const two = makeChatGeneration(`Two: ${words('reef', 60)}`, { maxTokens: 8 })

const canCache = memoryFolder !== undefined

test.skipIf(!canCache)(
  'two alternating conversations share one slot, and neither is processed again',
  async () => {
    const promptCache = { maxBytes: 100e6, bytesPerToken: 10_000, minTokens: 16 }
    const model = await openLlamaModel({ ...options, promptCache })
    onTestFinished(model.freeCache)
    const plain = await openLlamaModel(options)
    for (const [turn, generation] of [one, two, one, two, one].entries()) {
      const answer = await runGeneration(model, generation)
      expect(answer.text).toBe((await runGeneration(plain, generation)).text)
      if (turn < 2) expect(answer.cachedTokens).toBeLessThan(16)
      else expect(answer.cachedTokens).toBe(answer.promptTokens - 1)
    }
    await model.freeCache()
    const forgotten = await runGeneration(model, two)
    expect(forgotten.cachedTokens).toBeLessThan(16)
  },
)

test.skipIf(!canCache)('the cache stays within its limit, and leaves no file behind', async () => {
  const promptCache = { maxBytes: 1_000, bytesPerToken: 10_000, minTokens: 16 }
  const model = await openLlamaModel({ ...options, promptCache })
  for (const generation of [one, two]) await runGeneration(model, generation)
  expect((await runGeneration(model, one)).cachedTokens).toBeLessThan(16)
  // Another test that runs at the same time may be writing a file.
  const listFiles = () => readdirSync('/dev/shm').filter((name) => name.startsWith('shoal-'))
  await expect.poll(listFiles).toEqual([])
})

test('without a folder in memory that can be written to, nothing is cached', async () => {
  const folder = memoryFolder ? '/nonexistent' : '/dev/shm'
  const promptCache = { maxBytes: 100e6, bytesPerToken: 10_000, minTokens: 16, folder }
  const model = await openLlamaModel({ ...options, promptCache })
  for (const generation of [one, two, one]) {
    expect((await runGeneration(model, generation)).cachedTokens).toBeLessThan(16)
  }
})
