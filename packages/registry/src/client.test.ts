import { ApiError, NetworkError, registryClient } from '@shoal/protocol/client'
import { beforeAll, expect, test } from 'vitest'
import { manifestFor, settled, smallGguf } from './testing/publish.ts'
import { describeApi, type TestRegistry } from './testing/test-registry.ts'

const createClient = (registry: TestRegistry, token?: string) =>
  registryClient({ baseUrl: `http://127.0.0.1:${registry.port}`, token, maxWaits: 1 })

describeApi('the typed client', { on: ['SQLite'] }, (start) => {
  let registry: TestRegistry
  let token: string

  beforeAll(async () => {
    registry = await start()
    const { access_token } = await createClient(registry).register({
      username: 'ana',
      password: 'password of ana',
    })
    token = access_token
  })

  test('publishes, finds and describes a file', async () => {
    const client = createClient(registry, token)
    const bytes = smallGguf(1)
    const readme = 'A *tide*. ![](https://a.example/b.png)'
    const model = await client.createModel({ name: 'tide', tags: ['chat', 'a&b'], readme })
    const started = await client.startUpload('tide', manifestFor('tide.gguf', bytes))
    const upload = await client.getUpload('tide', started.id, { from: 0, limit: 5 })
    expect(upload.missing_count).toBe(1)
    for (const { url, headers } of upload.missing_chunks) {
      await fetch(url, { method: 'PUT', headers, body: bytes })
    }
    await client.completeUpload('tide', started.id)
    await settled(registry, token, 'tide', started.id)

    const page = await client.listModels({ q: 'tide', tag: ['chat', 'a&b'], limit: 5 })
    expect(page).toMatchObject({ total: 1, isTotalExact: true, models: [{ id: model.id }] })
    const [file] = await client.listFiles('tide')
    expect(file).toMatchObject({ id: started.id, status: 'ready' })
    expect(await client.getFile('tide', started.id)).toMatchObject({ tensors: { count: 1 } })
    expect(await client.getDownload('tide', started.id)).toMatchObject({
      file_size_bytes: bytes.length,
      chunk_hashes: [{ index: 0 }],
    })
    expect(await client.getModel('tide')).toMatchObject({ downloads: 1, quantizations: ['F32'] })
    await expect
      .poll(() => client.getCard('tide')) // a busy registry may return the source first
      .toMatch(/^<p>A <em>tide<\/em>\. <span /)
    expect(await client.getCard('tide', { images: true })).toContain('<img src="https://a.example/')
    expect(await client.getFacets()).toMatchObject({
      architectures: [{ value: 'llama', count: 1 }],
    })
    await expect
      .poll(() => client.getStats()) // the statistics may be up to a second old
      .toMatchObject({ models: 1, files: 1, downloads: 1 })
    expect(await client.getUser('ana')).toMatchObject({ models_count: 1 })
  })

  test('changes, likes and deletes a model', async () => {
    const client = createClient(registry, token)
    await client.createModel({ name: 'drift' })
    expect(await client.updateModel('drift', { license: 'mit' })).toMatchObject({ license: 'mit' })
    await client.setLike('drift', true)
    expect(await client.getModel('drift')).toMatchObject({ likes: 1, liked: true })
    const { id } = await client.startUpload('drift', manifestFor('x.gguf', smallGguf(2)))
    await client.deleteFile('drift', id)
    await client.deleteModel('drift')
    await expect(client.getModel('drift')).rejects.toMatchObject({ status: 404 })
  })

  test('manages accounts, sessions and keys', async () => {
    const { access_token } = await createClient(registry).login({
      username: 'ana',
      password: 'password of ana',
    })
    const client = createClient(registry, access_token)
    expect(await client.getMe()).toMatchObject({ username: 'ana', is_admin: true })
    const { id, key } = await client.createApiKey({ name: 'laptop' })
    expect(await createClient(registry, key).getMe()).toMatchObject({ username: 'ana' })
    expect(await client.listApiKeys()).toHaveLength(1)
    await client.deleteApiKey(id)
    const sessions = await client.listSessions()
    expect(sessions).toHaveLength(2)
    await client.changePassword({
      current_password: 'password of ana',
      new_password: 'another of ana',
    })
    expect(await client.listSessions()).toHaveLength(1)
    await client.logout()
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 })
    const again = await createClient(registry).login({
      username: 'ana',
      password: 'another of ana',
    })
    token = again.access_token
  })

  test("rejects with the registry's error message", async () => {
    const client = createClient(registry)
    const refused = await client.createModel({ name: 'x1' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({ status: 401, message: expect.stringContaining('sign in') })
  })

  test('distinguishes an unreachable registry from a canceled request', async () => {
    const nowhere = registryClient({ baseUrl: 'http://127.0.0.1:9' })
    await expect(nowhere.getStats()).rejects.toBeInstanceOf(NetworkError)
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(createClient(registry).getModel('tide', stop.signal)).rejects.toThrow('enough')
  })
})

describeApi('the typed client with a busy registry', { on: ['SQLite'] }, (start) => {
  test('waits for as long as the registry requests, and reports the wait', async () => {
    const limit = { max: 2, windowSeconds: 3 }
    const rateLimits = { auth: limit, write: limit, read: limit, chunk: limit, tracker: limit }
    const registry = await start({ rateLimits })
    const waits: number[] = []
    const client = registryClient({
      baseUrl: `http://127.0.0.1:${registry.port}`,
      onWait: ({ seconds }) => waits.push(seconds),
    })
    const startedAt = performance.now()
    for (let call = 0; call < 3; call += 1) await client.listModels({ limit: 1 })
    expect(waits).toEqual([expect.toSatisfy((seconds) => seconds >= 1 && seconds <= 3)])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual((waits[0] ?? 0) * 1000)
  })
})
