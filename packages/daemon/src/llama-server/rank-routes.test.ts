import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { computeScore, writeRankingModel } from '../testing/ranking-model.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'ranker'
const query = 'fish swims'
const documents = ['stone rolls', 'fish', 'stone fish swims']

type Answer = {
  data: { score: number }[]
  results: { index: number }[]
}

async function start(startRuntime?: Parameters<typeof useTestDaemon>[1]) {
  const { url, folder } = await useTestDaemon({}, startRuntime)
  mkdirSync(join(folder, model))
  writeRankingModel(join(folder, model, 'ranker-F32.gguf'))
  return async (path: string, body: object) => {
    const response = await postJson(url + path, { model, ...body })
    return { status: response.status, body: (await response.json()) as Answer }
  }
}

test('a ranking model scores documents as its weights say, and creates neither embeddings nor text', async () => {
  const post = await start()
  const scores = documents.map((document) => computeScore(query, document))
  const pairs = { text_1: query, text_2: documents }
  const { body } = await post('/v1/score', pairs)
  expect(body).toMatchObject({
    data: scores.map((score, index) => ({
      index,
      object: 'score',
      score: expect.closeTo(score, 3),
    })),
    usage: { prompt_tokens: 21, total_tokens: 21 },
  })
  const raw = await post('/v1/score', { ...pairs, raw_scores: true })
  for (const [index, { score }] of raw.body.data.entries()) {
    expect(1 / (1 + Math.exp(-score))).toBeCloseTo(body.data[index]?.score ?? 0, 6)
  }

  const long = 'stone '.repeat(40).trim()
  expect(await post('/rerank', { query, documents: [long] })).toMatchObject({
    status: 400,
    body: { error: { code: 'context_length_exceeded', param: 'documents' } },
  })
  const shortened = await post('/rerank', { query, documents: ['fish', long], truncate: true })
  expect(shortened.body).toMatchObject({ truncated: [1], usage: { prompt_tokens: 6 + 32 } })

  const refused: [path: string, body: object, code: string][] = [
    ['/v1/embeddings', { input: 'fish' }, 'not_embedding'],
    ['/v1/completions', { prompt: 'fish' }, 'not_generative'],
    ['/v1/rerank', { model: 'shoal-nano', query, documents }, 'not_ranking'],
  ]
  for (const [path, body, code] of refused) {
    const answer = await post(path, body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code, param: 'model' } } })
  }
})

test('results are sorted, in the format of Jina or of Text Embeddings Inference', async () => {
  const post = await start(scriptedRuntime())
  for (const path of ['/rerank', '/reranking', '/v1/rerank', '/v1/reranking', '/v2/rerank']) {
    const { body } = await post(path, { query, documents, top_n: 2, return_documents: true })
    expect(body).toMatchObject({ id: expect.any(String), model, object: 'list' })
    expect(body.results).toEqual([
      { index: 2, relevance_score: 1, document: { text: 'stone fish swims' } },
      { index: 1, relevance_score: 0.5, document: { text: 'fish' } },
    ])
  }
  const objects = documents.map((text) => ({ text }))
  const { results } = (await post('/rerank', { query, documents: objects })).body
  expect(results.map(({ index }) => index)).toEqual([2, 1, 0])
  const tei = await post('/rerank', { query, texts: documents, return_text: true })
  expect(tei.body).toMatchObject([{ index: 2, score: 1, text: 'stone fish swims' }, {}, {}])
})

test.each([
  ['/rerank', { query }, 422, 'documents is required'],
  ['/rerank', { query, documents: [] }, 422, 'documents'],
  ['/rerank', { documents }, 422, 'query'],
  ['/v1/score', { queries: ['a', 'b'], documents }, 400, '2 queries and 3 documents'],
  ['/v1/score', { queries: 'a' }, 422, 'queries and documents are required'],
])('%s with %j returns status %i', async (path, body, status, text) => {
  const post = await start(scriptedRuntime())
  const answer = await post(path, body)
  expect(answer).toMatchObject({ status, body: { detail: expect.stringContaining(text) } })
})
