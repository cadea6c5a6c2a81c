import { type MetadataInput, makeGguf } from '@shoal/model-file/testing'
import type { Facets, Model, ModelFile } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { undoMigrations } from '../../testing/older-database.ts'
import { publish, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../../testing/test-registry.ts'

const llama = {
  'general.architecture': 'llama',
  'llama.context_length': 4096,
  'llama.block_count': 10,
  'llama.embedding_length': 1024,
  'llama.attention.head_count': 16,
  'llama.attention.head_count_kv': 4,
}
/**
 * Size of the KV cache for 4,096 tokens: ten layers of four heads. Each head has 64 numbers per key and 64 per value,
 * and each number takes two bytes.
 */
const cacheBytes = 4096 * 10 * 4 * (64 + 64) * 2

let seed = 0
/** Returns a GGUF file. Each call returns different bytes. */
function gguf(metadata: Record<string, MetadataInput>, elements = 64) {
  seed += 1
  const tensors = [{ name: 'token_embd.weight', shape: [elements], type: 'F32' }]
  return Buffer.from(makeGguf({ metadata, tensors, fill: (data) => data.fill(seed) }))
}

describeOnEachDatabase('the memory estimate of a file', (start) => {
  let registry: TestRegistry
  let ana: string

  const put = (name: string, filename: string, bytes: Buffer<ArrayBuffer>) =>
    publish(registry, ana, { name }, filename, bytes)
  const listFiles = async (name: string): Promise<ModelFile[]> =>
    (await registry.get(`/v1/models/${name}/files`)).body
  const listMemory = async (name: string) =>
    (await listFiles(name)).map(({ filename, memory_bytes }) => [filename, memory_bytes])
  const getModel = async (name: string): Promise<Model> =>
    (await registry.get(`/v1/models/${name}`)).body
  const getMinMemory = async (name: string) => (await getModel(name)).min_memory_bytes
  const list = async (query: string) =>
    ((await registry.get(`/v1/models?${query}`)).body as Model[]).map(({ name }) => name)

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
  })

  test('is the sum of the weights, one KV cache and the compute buffers', async () => {
    const bytes = gguf(llama)
    const file = await put('tide', 'tide.gguf', bytes)
    const overhead = (file.memory_bytes ?? 0) - bytes.length - cacheBytes
    expect(overhead).toBeGreaterThan(100e6)
    expect(overhead).toBeLessThan(200e6)
    expect(await listMemory('tide')).toEqual([['tide.gguf', file.memory_bytes]])
    expect(await getMinMemory('tide')).toBe(file.memory_bytes)
  })

  test('is used to filter models by the memory that they need', async () => {
    await put('squid', 'squid.gguf', gguf({ ...llama, 'llama.block_count': 40 }))
    const least = (await getMinMemory('squid')) ?? 0
    expect(await list(`sort=created_at&max_memory_bytes=${least}`)).toEqual(['squid', 'tide'])
    expect(await list(`max_memory_bytes=${least - 1}`)).toEqual(['tide'])
    expect(await list('max_memory_bytes=1')).toEqual([])
    const { body }: { body: Facets } = await registry.get(
      `/v1/facets?max_memory_bytes=${least - 1}`,
    )
    expect(body.architectures).toEqual([{ value: 'llama', count: 1 }])
    expect((await registry.get('/v1/models?max_memory_bytes=x')).status).toBe(400)
  })

  test('is converted to a context length', async () => {
    const perToken = 40 * 4 * (64 + 64) * 2
    const squid = await getModel('squid')
    expect(squid.cache_bytes_per_token).toBe(perToken)
    const half = (squid.min_memory_bytes ?? 0) - 2048 * perToken
    const listWith = (tokens: number, bytes: number) =>
      list(`max_memory_bytes=${bytes}&context_length=${tokens}`)
    expect(await listWith(2048, half)).toContain('squid')
    expect(await listWith(2048, half - 1)).not.toContain('squid')
    // The estimate never assumes a longer context than the model's own.
    expect(await listWith(100_000, squid.min_memory_bytes ?? 0)).toContain('squid')
    expect((await registry.get('/v1/models?context_length=1')).body).toHaveLength(2)
    expect((await registry.get('/v1/models?context_length=0')).status).toBe(400)

    const token = { token: ana }
    await registry.call('PATCH', '/v1/models/squid', { ...token, body: { context_length: 65_536 } })
    expect(await listWith(100_000, squid.min_memory_bytes ?? 0)).not.toContain('squid')
    await registry.call('PATCH', '/v1/models/squid', { ...token, body: { context_length: 4096 } })
  })

  test('is added up over the shards of a model when all shards are present', async () => {
    const whole = await put('whole', 'whole.gguf', gguf(llama, 128))
    const split = { 'split.count': 2, 'split.no': 1 }
    const second = gguf(split, 64)
    await put('split', 'split-00002-of-00002.gguf', second)
    expect(await listMemory('split')).toEqual([['split-00002-of-00002.gguf', second.length]])
    expect(await getMinMemory('split')).toBeNull()
    const first = gguf({ ...llama, ...split, 'split.no': 0 }, 64)
    const { memory_bytes } = await put('split', 'split-00001-of-00002.gguf', first)
    const sum = (memory_bytes ?? 0) + second.length
    expect(await getMinMemory('split')).toBe(sum)
    const weights = first.length + second.length
    expect(sum - weights).toBe((whole.memory_bytes ?? 0) - whole.file_size_bytes)
  })

  test('is unknown for files that cannot run on their own or whose header is incomplete', async () => {
    const projector = { ...llama, 'general.type': 'mmproj' }
    await put('eye', 'mmproj.gguf', gguf(projector))
    await put('eye', 'untold.gguf', smallGguf(3))
    const unknown = (await listMemory('eye')).map(([, memory]) => memory)
    expect(unknown).toEqual([null, null])
    expect(await getMinMemory('eye')).toBeNull()
    expect(await list('max_memory_bytes=9000000000000000')).not.toContain('eye')
  })

  test('is removed with the file', async () => {
    const { id } = await put('gone', 'gone.gguf', gguf(llama))
    expect(await getMinMemory('gone')).not.toBeNull()
    await registry.call('DELETE', `/v1/models/gone/files/${id}`, { token: ana })
    expect(await getMinMemory('gone')).toBeNull()
  })

  test('is added for files that were published before estimates existed', async () => {
    const names = ['tide', 'squid', 'whole', 'split', 'eye', 'gone']
    const readMemory = () =>
      Promise.all(
        names.map(async (name) => {
          const { min_memory_bytes, cache_bytes_per_token } = await getModel(name)
          return [min_memory_bytes, cache_bytes_per_token, await listMemory(name)]
        }),
      )
    const before = await readMemory()
    await undoMigrations(await registry.connect(), '0003_memory')
    await registry.restart()
    expect(await readMemory()).toEqual(before)
  })
})
