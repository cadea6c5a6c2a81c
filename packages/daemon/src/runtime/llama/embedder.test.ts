import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeRankingModel } from '../../testing/ranking-model.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { startChildRuntime } from '../process/child-runtime.ts'

const ownLength = 4096
const { signal } = new AbortController()

test('a template combines a query and a document, in which special tokens are text', async () => {
  using folder = temporaryFolder()
  const plain = join(folder.path, 'plain.gguf')
  const withTemplate = join(folder.path, 'template.gguf')
  const template = '[CLS]{query}[SEP]{document}[SEP]'
  writeRankingModel(plain)
  writeRankingModel(withTemplate, { template })
  const rank = async (modelPath: string) => {
    const options = { modelPath, contextLength: 32, slots: 1, threads: 1 }
    const runtime = await startChildRuntime(options)
    const pairs: [string, string][] = [
      ['fish', 'stone rolls'],
      ['fish', 'stone [SEP] rolls'],
    ]
    const { scores, promptTokens } = await runtime.rank(pairs, signal)
    await runtime.close()
    return { scores: scores.map((score) => score.toFixed(5)), promptTokens }
  }
  const expected = await rank(plain)
  expect(await rank(withTemplate)).toEqual(expected)
  expect(expected.promptTokens).toBeGreaterThan(6 + 7)
})

test.each([
  [{}, ownLength],
  [{ maxTokens: 3000 }, 3000],
  [{ maxBytes: 1 }, 2048],
])('with the limits %j, a text may have %i tokens', async (embedding, maxTokens) => {
  using folder = temporaryFolder()
  const modelPath = join(folder.path, 'ranker.gguf')
  writeRankingModel(modelPath, { contextLength: ownLength })
  const options = { modelPath, contextLength: 512, slots: 1, threads: 1, embedding }
  const runtime = await startChildRuntime(options)
  const pair: [string, string] = ['fish', 'stone '.repeat(5000)]
  const ranking = await runtime.rank([pair], signal, { truncates: true })
  expect(ranking).toMatchObject({ promptTokens: maxTokens, truncated: [0] })
  await runtime.freeCache()
  const again = await runtime.rank([pair], signal, { truncates: true })
  expect(again.scores).toEqual(ranking.scores)
  await runtime.close()
})
