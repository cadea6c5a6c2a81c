import { expect, test } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'
import { maxCacheBytes, maxCacheEntries } from './response-cache.ts'

const batchSize = 50

async function metric(registry: TestRegistry, name: string): Promise<number> {
  const { text } = await registry.get('/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function askAll(registry: TestRegistry, paths: string[]) {
  for (let at = 0; at < paths.length; at += batchSize) {
    const some = paths.slice(at, at + batchSize).map((path) => registry.get(path))
    for (const { status } of await Promise.all(some)) expect(status).toBe(200)
  }
}

test('requests that differ only in unknown parameters share a cached response', async () => {
  const registry = await startTestRegistry()
  try {
    const junk = 'x'.repeat(14_000)
    const paths = Array.from({ length: 3_000 }, (_, at) => `/v1/models?junk-${at}=${at}${junk}`)
    await askAll(registry, paths)
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
    expect(await metric(registry, 'shoal_response_cache_bytes')).toBeLessThan(10_000)
  } finally {
    await registry.close()
  }
})

test('responses to very many known parameters stay within the limits of the cache', async () => {
  const registry = await startTestRegistry()
  try {
    const padding = 'y'.repeat(400)
    const count = maxCacheEntries + 500
    await askAll(
      registry,
      Array.from({ length: count }, (_, at) => `/v1/models?owner=${at}${padding}`),
    )
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(maxCacheEntries)
    const bytes = await metric(registry, 'shoal_response_cache_bytes')
    expect(bytes).toBeLessThan(maxCacheBytes)
    expect(bytes).toBeGreaterThan(maxCacheEntries * 2 * padding.length) // keys count towards the limit
    const long = Array.from({ length: 100 }, (_, at) => `/v1/models?q=${at}${'z'.repeat(14_000)}`)
    await askAll(registry, long)
    expect(await metric(registry, 'shoal_response_cache_bytes')).toBeLessThanOrEqual(bytes)
  } finally {
    await registry.close()
  }
})

test('the order of parameters and explicit defaults make no difference', async () => {
  const registry = await startTestRegistry()
  try {
    await askAll(registry, [
      '/v1/models',
      '/v1/models?limit=20&offset=0&sort=downloads&order=desc',
      '/v1/models?order=desc&sort=downloads&offset=0&limit=020',
    ])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
    await askAll(registry, ['/v1/models?tag=a&q=b', '/v1/models?q=b&tag=a'])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(2)
  } finally {
    await registry.close()
  }
})

test('a write drops every cached response', async () => {
  const registry = await startTestRegistry()
  try {
    const token = await registry.register('ana')
    await askAll(registry, ['/v1/models', '/v1/models?limit=1', '/v1/models?limit=2'])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(3)
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    expect((await registry.get('/v1/models')).body).toHaveLength(1)
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
  } finally {
    await registry.close()
  }
})
