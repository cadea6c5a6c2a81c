import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chatOf, runGeneration } from '../../testing/generations.ts'
import { openLlamaModel } from './llama-model.ts'

const models = join(import.meta.dirname, '../../../../../models')
const modelPath = join(models, 'shoal-nano/shoal-nano-Q8_0.gguf')

test('four streams are computed four at a time', async () => {
  const batches: number[] = []
  const options = { modelPath, contextLength: 256, slots: 4, threads: 1 }
  const onBatch = (conversations: number) => batches.push(conversations)
  const model = await openLlamaModel(options, { onBatch })
  const story = chatOf('Tell me a story', { maxTokens: 60 })
  const answers = await Promise.all([1, 2, 3, 4].map(() => runGeneration(model, story)))
  expect(answers.map(({ completionTokens }) => completionTokens)).toEqual([60, 60, 60, 60])
  const full = batches.filter((conversations) => conversations === 4)
  expect(full.length).toBeGreaterThanOrEqual(57)
  expect(batches.length).toBeLessThanOrEqual(65)
})
