import { randomUUID } from 'node:crypto'
import type { Reach } from '@shoal/core/addresses'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRedis, redisUrl } from '../../../../../testing/servers.ts'
import { leecher, swarmContract } from '../testing/swarm.contract.ts'
import { redisSwarms } from './redis-swarms.ts'

describe.skipIf(!hasRedis)('Redis', () => {
  let redis: Redis
  beforeAll(async () => {
    redis = new Redis(await redisUrl())
  })
  afterAll(() => redis?.disconnect())

  const open = (
    options: Partial<Parameters<typeof redisSwarms>[1]> = {},
    prefix = `${randomUUID()}:`,
  ) => {
    const limits = { silentAfterMs: 60_000, maxSeedersAgeMs: 0 }
    return redisSwarms({ redis, prefix }, { ...limits, ...options })
  }
  swarmContract('Redis', async (options) => open(options))

  const reaches: Reach[] = ['public']
  const announce = (
    swarms: ReturnType<typeof open>,
    swarm: string,
    number: number,
    address?: string,
  ) =>
    swarms.announce(
      swarm,
      { ...leecher(number, address), port: 2_000 + number },
      { count: 9, reaches },
    )

  test('swarms are limited in total, per swarm and per network', async () => {
    const all = open({ limits: { peers: 2 } })
    await announce(all, 'a', 1)
    await announce(all, 'b', 2)
    expect(await announce(all, 'a', 3)).toMatchObject({
      refusal: 'total',
      peers: [{ port: 2_001 }],
    })
    expect(await announce(all, 'a', 1)).toMatchObject({ refusal: undefined })
    expect(await all.totals()).toEqual({ swarms: 2, peers: 2 })

    const each = open({ limits: { peersPerSwarm: 1 } })
    await announce(each, 'a', 1)
    expect(await announce(each, 'a', 2)).toMatchObject({ refusal: 'swarm' })
    expect(await announce(each, 'b', 2)).toMatchObject({ refusal: undefined })

    const near = open({ limits: { peersPerNetwork: 1 } })
    await announce(near, 'a', 1, '2001:db8::1')
    expect(await announce(near, 'b', 2, '2001:db8::2')).toMatchObject({ refusal: 'network' })
    expect(await announce(near, 'b', 3, '2001:db8:1::1')).toMatchObject({ refusal: undefined })
    await near.leave('a', { ...leecher(1, '2001:db8::1'), port: 2_001 })
    expect(await announce(near, 'b', 2, '2001:db8::2')).toMatchObject({ refusal: undefined })
  })

  test('two nodes see the same swarms, and new numbers of seeders within 2 seconds', async () => {
    const prefix = `${randomUUID()}:`
    const [here, there] = [open({}, prefix), open({ maxSeedersAgeMs: 2_000 }, prefix)]
    expect((await there.countSeeders(['s'])).get('s')).toBe(0)
    const seeder = { ...leecher(1), isSeeder: true }
    await here.announce('s', seeder, { count: 0, reaches })
    const { peers } = await there.announce('s', leecher(2), { count: 5, reaches })
    expect(peers).toEqual([seeder])
    expect(await here.counts('s')).toEqual({ complete: 1, incomplete: 1, completed: 0 })
    await expect.poll(async () => (await there.countSeeders(['s'])).get('s')).toBe(1)
  })

  test('peers are drawn with equal probability, however few seeders there are', async () => {
    const swarms = open()
    await swarms.announce('s', { ...leecher(1), isSeeder: true }, { count: 0, reaches })
    for (let number = 2; number <= 60; number += 1) await announce(swarms, 's', number)
    let seedersDrawn = 0
    for (let turn = 0; turn < 200; turn += 1) {
      const { peers } = await swarms.announce('s', leecher(99), { count: 6, reaches })
      expect(peers).toHaveLength(6)
      seedersDrawn += peers.filter(({ isSeeder }) => isSeeder).length
    }
    expect(seedersDrawn).toBeGreaterThan(4) // 20 expected, with a standard deviation of 4.2
    expect(seedersDrawn).toBeLessThan(50)
  })

  test('keys expire by themselves', async () => {
    const prefix = `${randomUUID()}:`
    const swarms = open({ silentAfterMs: 1_000 }, prefix)
    await announce(swarms, 's', 1)
    const listKeys = () => redis.keys(`${prefix}swarm:*`)
    expect(await listKeys()).not.toEqual([])
    await expect.poll(listKeys).toEqual([])
    expect(await swarms.totals()).toEqual({ swarms: 0, peers: 0 })
  })
})
