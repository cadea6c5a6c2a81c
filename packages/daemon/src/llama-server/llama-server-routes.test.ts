import { afterAll, beforeAll, expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { startTestDaemon, useTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
beforeAll(async () => {
  daemon = await startTestDaemon()
})
afterAll(() => daemon.close())

const model = 'shoal-tiny'

async function get(path: string) {
  const response = await fetch(`${daemon.url}${path}`)
  return { status: response.status, body: await response.json() }
}

async function post(path: string, body: object) {
  const response = await postJson(`${daemon.url}${path}`, body)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('if a request does not specify a model, the only loaded model is used', async () => {
  expect(await get('/props')).toMatchObject({
    status: 400,
    body: { detail: 'model is required, because no model is loaded' },
  })
  const named = await post('/tokenize', { model, content: 'Hello' })
  expect(named.status).toBe(200)
  expect(await post('/tokenize', { content: 'Hello' })).toEqual(named)
  expect((await get('/props')).body).toMatchObject({ model })
})

test('text is converted to tokens and back', async () => {
  const content = 'Hello, été 🐟!'
  const { body } = await post('/tokenize', { model, content })
  expect(body).toEqual({ model, tokens: expect.any(Array) })
  expect((await post('/detokenize', { model, tokens: body.tokens })).body).toEqual({
    model,
    content,
  })

  const pieces = (await post('/tokenize', { model, content, with_pieces: true })).body.tokens as {
    id: number
    piece: string | number[]
  }[]
  expect(pieces.map(({ id }) => id)).toEqual(body.tokens)
  const bytes = pieces.map(({ piece }) => Buffer.from(piece as string))
  expect(Buffer.concat(bytes).toString()).toBe(content)
})

test('a long text with many special tokens is converted in blocks, to the same tokens', async () => {
  const part = 'Hello, fish<|im_end|> \n<|im_start|>'
  const one = (await post('/tokenize', { model, content: part })).body.tokens as number[]
  const { body } = await post('/tokenize', { model, content: part.repeat(5000) })
  expect(body.tokens).toEqual(Array(5000).fill(one).flat())
})

test('special tokens are recognized unless parse_special is false', async () => {
  const eos = ((await get(`/props?model=${model}`)).body as { eos_token: string }).eos_token
  const special = await post('/tokenize', { model, content: eos })
  const plain = await post('/tokenize', { model, content: eos, parse_special: false })
  expect(special.body.tokens).toHaveLength(1)
  expect((plain.body.tokens as []).length).toBeGreaterThan(1)
})

test("a chat is rendered with the model's template", async () => {
  const messages = [{ role: 'user', content: 'Hello, fish' }]
  const { body } = await post('/apply-template', { model, messages })
  expect(body).toEqual({ model, prompt: expect.stringContaining('Hello, fish') })
  const chat = await post('/v1/chat/completions', { model, messages, max_tokens: 1 })
  const { tokens } = (await post('/tokenize', { model, content: body.prompt, add_special: true }))
    .body
  expect(chat.body.usage).toMatchObject({ prompt_tokens: (tokens as []).length })
})

test.each([
  ['/detokenize', { model, tokens: [99_999_999] }, 400, 'unknown_token'],
  ['/detokenize', { model, tokens: ['a'] }, 422, null],
  ['/detokenize', { model, tokens: Array(1_000_001).fill(0) }, 422, null],
  ['/tokenize', { model }, 422, null],
  ['/tokenize', { model, content: 'a'.repeat(1_000_001) }, 422, null],
  ['/tokenize', { model: 'nobody-7b', content: 'Hi' }, 404, 'model_not_found'],
  ['/apply-template', { model, messages: [] }, 422, null],
])('%s rejects an invalid request (case %$)', async (path, body, status, code) => {
  expect(await post(path, body)).toMatchObject({ status, body: { error: { code } } })
})

test('all models on this machine are listed if all=true, or by default if set so', async () => {
  const { url } = await useTestDaemon()
  const listing = await useTestDaemon({ listsAllModels: true })
  const ids = async (query: string, at = url) => {
    const { data } = (await (await fetch(`${at}/v1/models${query}`)).json()) as {
      data: { id: string }[]
    }
    return data.map(({ id }) => id).toSorted()
  }
  const all = ['shoal-nano', 'shoal-tiny', 'shoal-tiny:Q4_0']
  expect(await ids('')).toEqual([])
  expect(await ids('?all=true')).toEqual(all)
  expect(await ids('?all=false')).toEqual([])
  expect(await ids('', listing.url)).toEqual(all)
  expect(await ids('?all=false', listing.url)).toEqual([])
  expect((await fetch(`${url}/v1/models?all=yes`)).status).toBe(400)
})
