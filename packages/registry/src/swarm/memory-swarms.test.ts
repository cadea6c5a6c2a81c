import type { Reach } from '@shoal/core/addresses'
import { afterEach, describe, expect, test } from 'vitest'
import { memorySwarms } from './memory-swarms.ts'
import type { SwarmLimits } from './swarm.ts'
import { leecher, swarmContract } from './testing/swarm.contract.ts'

swarmContract('memory', async (options) => memorySwarms(options))

describe('swarms in memory', () => {
  let swarms = memorySwarms({ silentAfterMs: 60_000 })
  afterEach(() => swarms.close())

  const reaches: Reach[] = ['public']
  const announce = (swarm: string, number: number, address?: string) =>
    swarms.announce(
      swarm,
      { ...leecher(number, address), port: 2_000 + number },
      { count: 9, reaches },
    )

  test('change the seeders version only if a seeder joins or leaves', async () => {
    limited({})
    await announce('a', 1)
    const version = swarms.seedersVersion()
    await announce('a', 2)
    expect(swarms.seedersVersion()).toBe(version)
    const seeder = { ...leecher(3), isSeeder: true }
    await swarms.announce('a', seeder, { count: 0, reaches })
    const [changed] = [swarms.seedersVersion()]
    expect(changed).not.toBe(version)
    await swarms.leave('a', seeder)
    expect([version, changed]).not.toContain(swarms.seedersVersion())
  })

  function limited(limits: Partial<SwarmLimits>) {
    swarms = memorySwarms({ silentAfterMs: 60_000, limits })
  }

  test('have a limit in total; a peer above the limit is not stored, but still receives other peers', async () => {
    limited({ peers: 2 })
    await announce('a', 1)
    await announce('b', 2)
    const third = await announce('a', 3)
    expect(third.refusal).toBe('total')
    expect(third.peers).toHaveLength(1)
    expect((await announce('a', 1)).refusal).toBeUndefined()
    expect(await swarms.totals()).toEqual({ swarms: 2, peers: 2 })
  })

  test('create no swarm for a peer above the limit', async () => {
    limited({ peers: 1 })
    await announce('a', 1)
    expect(await announce('b', 2)).toMatchObject({ refusal: 'total', peers: [] })
    expect(await swarms.totals()).toEqual({ swarms: 1, peers: 1 })
  })

  test('have a limit per swarm', async () => {
    limited({ peersPerSwarm: 2 })
    for (const number of [1, 2]) await announce('a', number)
    expect((await announce('a', 3)).refusal).toBe('swarm')
    expect((await announce('b', 3)).refusal).toBeUndefined()
    expect(await swarms.totals()).toEqual({ swarms: 2, peers: 3 })
  })

  test('have a limit per network, and accept another peer when one has left', async () => {
    limited({ peersPerNetwork: 2 })
    for (const number of [1, 2, 3]) await announce('a', number, '2001:db8::1')
    expect((await announce('b', 4, '2001:db8::2')).refusal).toBe('network')
    expect((await announce('b', 5, '2001:db8:1::2')).refusal).toBeUndefined()
    await swarms.leave('a', { ...leecher(1, '2001:db8::1'), port: 2_001 })
    expect((await announce('b', 4, '2001:db8::2')).refusal).toBeUndefined()
  })
})
