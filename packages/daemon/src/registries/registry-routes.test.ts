/** Tests searching, finding and pulling models with several registries. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { DaemonConfig } from '../config.ts'
import { addModel } from '../testing/gguf-of-test.ts'
import { startRecordingServer } from '../testing/recording-server.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { useTestRegistry } from '../testing/test-registry.ts'

/** The members of response bodies that the tests read. */
type Body = { local_model?: string; models?: { local_model: string | null }[] }

async function start(settings: Partial<DaemonConfig>) {
  const daemon = await useTestDaemon(settings, scriptedRuntime())
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(daemon.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  return {
    ...daemon,
    send,
    async post(path: string, body: unknown) {
      const answer = await send(path, body)
      return { status: answer.status, body: (await answer.json()) as Body }
    },
  }
}

/** Starts a registry with a model `tide`. The content of its file depends on `contextLength`. */
async function registryWithTide(contextLength: number) {
  const registry = await useTestRegistry()
  using folder = temporaryFolder()
  const metadata = {
    'llama.context_length': contextLength,
    'llama.block_count': 1,
    'llama.embedding_length': 64,
    'llama.attention.head_count': 1,
  }
  await registry.publish('tide', addModel(folder.path, 'tide', metadata))
  return registry
}

async function recordingServer(body: unknown) {
  const server = await startRecordingServer(body)
  onTestFinished(server.close)
  return server
}

const file = {
  id: 'f',
  model_id: 'm',
  filename: 'tide-F32.gguf',
  quantization: 'F32',
  file_size_bytes: 1000,
  sha256_hash: 'a'.repeat(64),
}

test('the known registries are listed without their credentials, and can be searched', async () => {
  const [one, other] = await Promise.all([registryWithTide(4096), useTestRegistry()])
  const { url, post } = await start({
    registry: { address: one.address, token: undefined },
    otherRegistries: async () => [{ address: other.address, token: 'secret' }],
  })
  const listed = await (await fetch(`${url}/api/registries`)).text()
  expect(JSON.parse(listed)).toEqual({
    registries: [
      { address: one.address, has_credentials: false },
      { address: other.address, has_credentials: true },
    ],
  })
  expect(listed).not.toContain('secret')

  const found = await post('/api/registries/search', { q: 'tid', fits: true })
  expect(found).toMatchObject({
    status: 200,
    body: {
      registry: one.address,
      total: 1,
      models: [{ name: 'tide', fits: true, local_model: null }],
    },
  })
  const foreign = await post('/api/registries/search', { registry: 'http://127.0.0.1:9' })
  expect(foreign).toMatchObject({ status: 403, body: { code: 'unknown_registry' } })
})

test('with a sign-in that is no longer valid, only public models are found', async () => {
  const { address } = await registryWithTide(4096)
  const { post } = await start({ registry: { address, token: 'revoked' } })
  const found = await post('/api/registries/search', {})
  expect(found).toMatchObject({
    status: 200,
    body: { is_token_refused: true, models: [{ name: 'tide' }] },
  })
  const hidden = await post('/api/registries/find', { model: 'secret' })
  expect(hidden).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining(`shoal login --registry ${address}`) },
  })
})

test('with little memory, only models that fit are found', async () => {
  const { address } = await registryWithTide(4096)
  const { post } = await start({ registry: { address, token: undefined }, memoryBytes: 1e6 })
  const search = async (fits: boolean) => (await post('/api/registries/search', { fits })).body
  expect(await search(true)).toMatchObject({ models: [], memory_limit_bytes: 1e6 })
  expect(await search(false)).toMatchObject({ models: [{ name: 'tide', fits: false }] })
})

test('two models with the same name, pulled from two registries at once, get separate folders', async () => {
  const [one, other] = await Promise.all([registryWithTide(1024), registryWithTide(2048)])
  const { folder, post } = await start({
    registry: { address: one.address, token: undefined },
    otherRegistries: async () => [{ address: other.address, token: undefined }],
  })
  const host = other.address.replace('http://', '')
  const names = ['tide', `${other.address}/tide:F32`]
  const pulled = await Promise.all(
    names.map((model) => post('/api/pull', { model, stream: false })),
  )
  expect(pulled.map(({ status }) => status)).toEqual([200, 200])
  const found = await Promise.all(names.map((model) => post('/api/registries/find', { model })))
  const ids = found.map(({ body }) => body.local_model)
  expect(ids.toSorted()).toEqual([expect.stringMatching(/\/tide$/), 'tide'].toSorted())
  expect(new Set(ids).size).toBe(2)
  const searched = await Promise.all(
    [one, other].map(({ address }) => post('/api/registries/search', { registry: address })),
  )
  expect(searched.map(({ body }) => body.models?.map((model) => model.local_model))).toEqual(
    ids.map((id) => [id]),
  )

  const again = await post('/api/pull', { model: `${host}/tide`, stream: false })
  expect(again.status).toBe(200)
  const folders = ids.map((id = '') => join(folder, id.replace(':', '+'), 'tide-F32.gguf'))
  const [first, second] = folders.map((path) => readFileSync(path))
  expect(first && second && first.equals(second)).toBe(false)
})

test('an unknown registry gets a request only if the user has agreed, and never any credentials', async () => {
  const known = await recordingServer([file])
  const unknown = await recordingServer([file])
  const { folder, post } = await start({
    registry: { address: known.address, token: 'own-token' },
    otherRegistries: async () => [
      { address: known.address, token: 'own-token' },
      { address: unknown.address.replace('127.0.0.1', 'localhost'), token: 'other-token' },
      { address: unknown.address.replace('http', 'https'), token: 'other-token' },
    ],
  })
  const model = `${unknown.address}/tide:F32`
  for (const path of ['/api/registries/find', '/api/pull']) {
    const refused = await post(path, { model })
    expect(refused).toMatchObject({ status: 403, body: { code: 'unknown_registry' } })
  }
  expect(unknown.requests).toEqual([])

  const found = await post('/api/registries/find', { model, allow_unknown_registry: true })
  expect(found).toMatchObject({
    status: 200,
    body: {
      registry: unknown.address,
      is_known: false,
      name: 'tide',
      label: 'F32',
      size_bytes: 1000,
      local_model: null,
    },
  })
  expect(existsSync(join(folder, 'tide'))).toBe(false)
  const pulled = await post('/api/pull', { model, stream: false, allow_unknown_registry: true })
  expect(pulled.status).toBe(502) // the server's response is not a valid download
  expect(unknown.requests.length).toBeGreaterThan(1)
  for (const { headers } of unknown.requests) expect(headers.authorization).toBeUndefined()

  await post('/api/registries/find', { model: 'tide' })
  expect(known.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer own-token'])
})

test.each([
  ['{}', {}],
  ['a filename with a path', [{ ...file, filename: '../../evil.gguf' }]],
  ['a filename that is not a string', [{ ...file, filename: { toString: 'x' } }]],
  ['a size that is not a number', [{ ...file, file_size_bytes: { evil: true } }]],
  ['a negative size', [{ ...file, file_size_bytes: -1 }]],
  ['a hash with a path', [{ ...file, sha256_hash: '../evil' }]],
])('a registry that sends %s is reported, and nothing is written', async (_, body) => {
  const { address } = await recordingServer(body)
  const { folder, post } = await start({ registry: { address, token: undefined } })
  for (const path of ['/api/registries/find', '/api/pull']) {
    const answer = await post(path, { model: 'tide:F32' })
    expect(answer).toMatchObject({ status: 502, body: { detail: /registry/ } })
  }
  expect(existsSync(join(folder, 'tide'))).toBe(false)
})

test.each([
  ['/api/registries/search', { q: 'tide' }],
  ['/api/registries/find', { model: 'tide' }],
  ['/api/pull', { model: 'tide' }],
])('a foreign page cannot use %s', async (path, body) => {
  const registry = await recordingServer([])
  const { url, send } = await start({ registry: { address: registry.address, token: undefined } })
  for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
    const plain = { origin, 'content-type': 'text/plain' }
    expect((await send(path, body, plain)).status, origin).toBe(403)
  }
  const form = {
    'content-type': 'application/x-www-form-urlencoded',
    origin: 'https://evil.example',
  }
  expect((await send(path, body, form)).status).toBe(403)
  expect((await fetch(`${url}${path}?model=tide`)).status).toBe(404)
  expect(registry.requests).toEqual([])
})
