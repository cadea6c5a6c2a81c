import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../../testing/redis.ts'
import { hasRedis, redisUrl } from '../../../../testing/servers.ts'
import { delayedCounts } from './delayed-counts.ts'
import { openRedis } from './open-redis.ts'

const hourMs = 3_600_000
const log = { info: () => undefined, warn: () => undefined }

async function openNode(url: string, prefix: string, maxKeys = 100) {
  const shared = await openRedis(url, { prefix, log })
  onTestFinished(() => shared.close())
  return { ...delayedCounts(shared, maxKeys), isGone: shared.isGone }
}

describe.skipIf(!hasRedis)('counts that do not wait for Redis', () => {
  const open = async (prefix: string) => openNode(await redisUrl(), prefix)

  test('are exact for one node, and soon include those of other nodes', async () => {
    const prefix = randomUUID()
    const [one, two] = [await open(prefix), await open(prefix)]
    for (let count = 1; count <= 1_000; count += 1) {
      expect(one.add('a', hourMs).count).toBe(count)
    }
    let own = 0
    await expect
      .poll(() => {
        own += 1
        return two.add('a', hourMs).count - own
      })
      .toBe(1_000)
    expect(two.add('b', hourMs).count).toBe(1)
    await expect.poll(() => (one.add('a', hourMs).count > 1_000 + own ? 'more' : '')).toBe('more')
  })

  test('start again at zero in each time window, and all nodes use the same windows', async () => {
    const prefix = randomUUID()
    const [one, two] = [await open(prefix), await open(prefix)]
    one.add('a', hourMs)
    await expect.poll(() => two.add('a', 500).msLeft).toBeGreaterThan(500)
    one.add('b', 500)
    await expect.poll(() => one.add('b', 500).count, { interval: 600 }).toBe(1)
  })

  test('are separate for each node while Redis is gone, and are shared again once Redis is back', async () => {
    const redis = await startRedis()
    if (!redis) throw new Error('Redis is not installed')
    onTestFinished(() => redis.stop())
    const prefix = randomUUID()
    const [one, two] = [await openNode(redis.url, prefix), await openNode(redis.url, prefix)]
    await redis.kill()
    await expect.poll(() => one.isGone()).toBe(true)
    for (let count = 1; count <= 100; count += 1) expect(one.add('a', hourMs).count).toBe(count)
    await redis.start()
    await expect
      .poll(
        () => {
          for (let count = 0; count < 1_000; count += 1) one.add('b', hourMs)
          return two.add('b', hourMs).count
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(1_000)
  })

  test('are kept for a limited number of keys', async () => {
    const { add } = await openNode(await redisUrl(), randomUUID(), 2)
    for (const key of ['a', 'b', 'c']) add(key, hourMs)
    expect(add('c', hourMs).count).toBe(2)
    expect(add('a', hourMs).count).toBe(1)
  })
})
