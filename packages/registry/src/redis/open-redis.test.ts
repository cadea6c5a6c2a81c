import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../../testing/redis.ts'
import { hasRedis } from '../../../../testing/servers.ts'
import { openRedis } from './open-redis.ts'

const log = { info: () => undefined, warn: () => undefined }

test.skipIf(!hasRedis)(
  'after an error, Redis is used again as soon as it responds, even if nothing else calls it',
  async () => {
    const redis = await startRedis()
    if (!redis) throw new Error('Redis is not installed')
    onTestFinished(() => redis.stop())
    const shared = await openRedis(redis.url, { prefix: randomUUID(), log })
    onTestFinished(() => shared.close())
    const ask = () =>
      shared.use(
        () => shared.redis.ping(),
        () => 'this node',
      )
    expect(await ask()).toBe('PONG')

    redis.pause()
    expect(await ask()).toBe('this node')
    expect(shared.isGone()).toBe(true)
    redis.resume()
    await expect.poll(shared.isGone).toBe(false)
    expect(await ask()).toBe('PONG')

    await shared.redis.config('SET', 'min-replicas-to-write', '1') // Redis rejects writes until a replica connects
    const write = () => shared.redis.set('key', 'value')
    expect(await shared.use(write, () => 'this node')).toBe('this node')
    expect(shared.isGone()).toBe(true)
    await shared.redis.config('SET', 'min-replicas-to-write', '0')
    await expect.poll(shared.isGone).toBe(false)
  },
)
