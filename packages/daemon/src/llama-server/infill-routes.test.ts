/** Tests how editors complete code, and how the other APIs demand the same. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Generation, Prompt } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-nano'
const pieces = ['a', ' b', '\n'].map((text) => ({ text }))

async function useRecorded() {
  const asked: Generation[] = []
  const { url } = await useTestDaemon({}, async (options) => {
    const runtime = await scriptedRuntime({ pieces })(options)
    return {
      ...runtime,
      generate(generation, signal) {
        asked.push(generation)
        return runtime.generate(generation, signal)
      },
    }
  })
  return { url, asked }
}

test('the text in a gap is returned with the settings, or streamed', async () => {
  const { url, asked } = await useRecorded()
  // The fields that llama.vim sends.
  const body = {
    model,
    ...{
      input_prefix: 'f(',
      input_suffix: ')',
      input_extra: [{ text: 'x', time: 1 }],
      prompt: '1',
    },
    ...{
      n_predict: 64,
      n_indent: 4,
      top_k: 40,
      top_p: 0.9,
      samplers: ['top_k', 'top_p', 'infill'],
    },
    ...{
      stream: false,
      cache_prompt: true,
      t_max_prompt_ms: 500,
      t_max_predict_ms: 1000,
      id_slot: 0,
    },
  }
  const whole = await (await postJson(`${url}/infill`, body)).json()
  expect(whole).toMatchObject({
    ...{ content: 'a b\n', stop: true, stop_type: 'eos', tokens_predicted: 3, model },
    generation_settings: { seed: asked[0]?.sampling.seed, top_k: 40, temperature: 1, min_p: 0 },
  })
  expect(asked[0]).toMatchObject({
    prompt: {
      gap: { before: 'f(', after: ')', begun: '1', files: [{ filename: 'tmp', text: 'x' }] },
    },
    maxTokens: 64,
    lines: { minIndent: 4, maxMs: 1000 },
  })
  const stream = await (await postJson(`${url}/infill`, { ...body, stream: true })).text()
  const events = stream.trimEnd().split('\n\n')
  const parts = events.map((event) => JSON.parse(event.slice('data: '.length)))
  expect(parts.map(({ content, stop }) => [content, stop])).toEqual([
    ['a', false],
    [' b', false],
    ['\n', false],
    ['', true],
  ])
})

test("OpenAI's and Ollama's `suffix` demands the same", async () => {
  const { url, asked } = await useRecorded()
  const body = { model, prompt: 'f(', suffix: ')' }
  expect((await postJson(`${url}/v1/completions`, body)).status).toBe(200)
  expect((await postJson(`${url}/api/generate`, { ...body, stream: false })).status).toBe(200)
  const gap = { before: 'f(', after: ')', files: [], begun: '' }
  expect(asked.map(({ prompt }): Prompt => prompt)).toEqual([{ gap }, { gap }])
})

test('only a model that has the tokens can fill gaps', async () => {
  const daemon = await useTestDaemon()
  const ask = (path: string, name: string) =>
    postJson(daemon.url + path, { model: name, prompt: 'Hello', suffix: '!', stream: false })
  for (const path of ['/v1/completions', '/api/generate']) {
    const refused = await ask(path, model)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('suffix is not supported by this model'),
    ])
  }
  addGapTokens(join(daemon.folder, 'shoal-tiny', 'shoal-tiny-Q8_0.gguf'))
  expect((await ask('/v1/completions', 'shoal-tiny')).status).toBe(200)
})

/** Gives three tokens of a model the names by which llama.cpp recognizes the tokens for gaps. */
function addGapTokens(path: string) {
  const bytes = readFileSync(path)
  const length = Buffer.from([5, 0, 0, 0, 0, 0, 0, 0]) // of a string in a GGUF file
  let place = bytes.indexOf('tokenizer.ggml.tokens')
  for (const name of ['<PRE>', '<SUF>', '<MID>']) {
    place = bytes.indexOf(length, place) + length.length
    bytes.write(name, place)
  }
  writeFileSync(path, bytes)
}
