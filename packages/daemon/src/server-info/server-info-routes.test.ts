import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { computeProof, isSameProof } from './proof.ts'

const nonce = 'a-nonce'
const model = 'shoal-tiny'

async function health(url: string, query: string) {
  const response = await fetch(`${url}/healthz${query}`)
  return (await response.json()) as { status: string; pid: number; proof?: string }
}

test("a proof is valid only for the daemon's token, the nonce, and the address to which the request was sent", async () => {
  const { port } = await useTestDaemon({ proofToken: 'token', host: '127.0.0.1' })
  const { proof = '' } = await health(`http://127.0.0.1:${port}`, `?nonce=${nonce}`)
  expect(isSameProof(proof, computeProof('token', nonce, { address: '127.0.0.1', port }))).toBe(
    true,
  )
  expect(proof).not.toContain('token')
  for (const other of [
    computeProof('another', nonce, { address: '127.0.0.1', port }),
    computeProof('token', 'another', { address: '127.0.0.1', port }),
    computeProof('token', nonce, { address: '::1', port }),
    computeProof('token', nonce, { address: '127.0.0.1', port: port + 1 }),
  ]) {
    expect(isSameProof(proof, other)).toBe(false)
  }
})

test('there is no proof if the nonce is missing or invalid, or if the daemon has no token', async () => {
  const known = await useTestDaemon({ proofToken: 'token' })
  for (const query of ['', '?nonce=a&nonce=b', `?nonce=${'a'.repeat(101)}`]) {
    expect(await health(known.url, query)).toEqual({ status: 'ok', pid: process.pid })
  }
  const unknown = await useTestDaemon()
  expect(await health(unknown.url, `?nonce=${nonce}`)).toEqual({ status: 'ok', pid: process.pid })
})

test('only /health is open to requests without the API key', async () => {
  const { url } = await useTestDaemon({ apiKey: 'secret' })
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
  expect((await fetch(`${url}/props?model=${model}`)).status).toBe(401)
})

test("a model's properties are returned without loading the model", async () => {
  const { url } = await useTestDaemon()
  const get = async (path: string) => (await fetch(url + path)).json()
  const body = await get(`/props?model=${model}`)
  expect(body).toMatchObject({
    model,
    default_generation_settings: { n_ctx: expect.any(Number), params: { top_k: 40 } },
    total_slots: 4,
    model_alias: model,
    model_path: expect.stringMatching(/^[^/]+\.gguf$/),
    chat_template: expect.stringContaining('messages'),
    bos_token: expect.any(String),
    eos_token: expect.stringMatching(/./),
  })
  expect(await get('/v1/models')).toMatchObject({ data: [] })
})

test('the special tokens are not read again while the file is unchanged', async () => {
  const { url, folder } = await useTestDaemon()
  const props = async () => (await fetch(`${url}/props?model=shoal-nano`)).json()
  const before = await props()
  const directory = join(folder, 'shoal-nano')
  const name = (await readdir(directory)).find((one) => one.endsWith('.gguf')) ?? ''
  const { size, atime, mtime } = await stat(join(directory, name))
  await writeFile(join(directory, name), Buffer.alloc(size)) // zeros, which are not a valid GGUF file
  await utimes(join(directory, name), atime, mtime)
  expect(await props()).toEqual(before)
})

test('if a file has been replaced by something else since it was listed, the error says so', async () => {
  const { url, folder } = await useTestDaemon()
  const path = join(folder, 'shoal-nano', 'shoal-nano-Q8_0.gguf')
  await fetch(`${url}/v1/models?all=true`) // reads the header
  const { size, atime, mtime } = await stat(path)
  await writeFile(path, Buffer.alloc(size))
  await utimes(path, atime, mtime)
  const error = { code: 'model_unusable', message: expect.stringContaining('shoal-nano cannot') }
  const props = await fetch(`${url}/props?model=shoal-nano`)
  expect([props.status, await props.json()]).toMatchObject([400, { error }])
  const show = await postJson(`${url}/api/show`, { model: 'shoal-nano', verbose: true })
  expect([show.status, await show.json()]).toMatchObject([400, { code: 'model_unusable' }])
})
