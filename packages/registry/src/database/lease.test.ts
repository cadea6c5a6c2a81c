import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { withLease } from './lease.ts'

describeOnEachDatabase('a lease', (start) => {
  test('lets only one node work at a time, and no node during the rest period', async () => {
    const registry = await start()
    const [one, two] = [await registry.connect(), await registry.connect()]
    const started = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const first = withLease(one.db, 'work', 3_600, () => {
      started.resolve()
      return end.promise
    })
    await started.promise
    const never = () => Promise.reject(new Error('not now'))
    expect(await withLease(two.db, 'work', 3_600, never)).toBe(false)
    expect(await withLease(two.db, 'other work', 0, async () => undefined)).toBe(true)
    end.resolve()
    expect(await first).toBe(true)
    expect(await withLease(two.db, 'work', 3_600, never)).toBe(false)
    await sql`update lease set until = '2020-01-01T00:00:00.000Z'`.execute(one.db)
    expect(await withLease(two.db, 'work', 0, async () => undefined)).toBe(true)
    expect(await withLease(one.db, 'work', 0, async () => undefined)).toBe(true)
  })

  test('is not renewed after its rest period has begun', async () => {
    const registry = await start()
    const { db } = await registry.connect()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const queries: string[] = []
    const renewed = Promise.withResolvers<void>()
    const observed = db.withPlugin({
      transformQuery({ node }) {
        queries.push('sent')
        return node
      },
      async transformResult({ result }) {
        const isRenewal = queries.length === 3
        if (isRenewal) await renewed.promise
        queries.push('answered')
        return result
      },
    })
    const end = Promise.withResolvers<void>()
    const leased = withLease(observed, 'work', 3_600, () => end.promise)
    await expect.poll(() => queries).toEqual(['sent', 'answered'])
    await vi.advanceTimersToNextTimerAsync()
    expect(queries).toEqual(['sent', 'answered', 'sent'])
    end.resolve()
    await setImmediate()
    renewed.resolve()
    expect(await leased).toBe(true)
    expect(queries).toEqual(['sent', 'answered', 'sent', 'answered', 'sent', 'answered'])
  })

  test('can be taken again immediately if the work failed', async () => {
    const registry = await start()
    const { db } = await registry.connect()
    const fail = () => Promise.reject(new Error('out of luck'))
    await expect(withLease(db, 'work', 3_600, fail)).rejects.toThrow('out of luck')
    expect(await withLease(db, 'work', 0, async () => undefined)).toBe(true)
  })
})
