import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { withLease } from './lease.ts'

describeOnEachDatabase('a lease', (start) => {
  test('lets one node work at a time, and no node until the rest period is over', async () => {
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

  test('is free again as soon as the work fails', async () => {
    const registry = await start()
    const { db } = await registry.connect()
    const fail = () => Promise.reject(new Error('out of luck'))
    await expect(withLease(db, 'work', 3_600, fail)).rejects.toThrow('out of luck')
    expect(await withLease(db, 'work', 0, async () => undefined)).toBe(true)
  })
})
