import { movedClock } from '@shoal/core/testing'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { breakableLine } from '../testing/breakable-line.ts'
import { makeDatabase } from '../testing/test-registry.ts'
import { type ChangeFeed, openChangeFeed } from './change-feed.ts'

const ignore = () => undefined

describe.skipIf(!hasPostgres)('the change feed of a node', () => {
  let url: URL
  let clock: ReturnType<typeof movedClock>
  let line: Awaited<ReturnType<typeof breakableLine>>

  beforeEach(async () => {
    url = new URL(await makeDatabase())
    clock = movedClock()
    line = await breakableLine(`${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`, clock)
  })
  afterEach(() => line.cut())

  function open(connectionString: string): ChangeFeed {
    const feed = openChangeFeed({ connectionString, onConnectionLost: ignore, clock })
    onTestFinished(feed.close)
    return feed
  }

  async function connect() {
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  /** Collects the heartbeats of all nodes. */
  async function observe() {
    const heartbeats: string[] = []
    const client = await connect()
    client.on('notification', ({ payload = '' }) => {
      if (payload.startsWith('alive')) heartbeats.push(payload)
    })
    await client.query('listen shoal_changes')
    return heartbeats
  }

  const openDirectly = () => open(url.href)
  const openThroughLine = () =>
    open(`postgres://${url.username}@127.0.0.1:${line.port}${url.pathname}`)

  test('has no version while notifications arrive too late, even if they arrive regularly', async () => {
    const feed = openThroughLine()
    await expect.poll(feed.version).toBeDefined()
    const client = await connect()
    const heartbeats = await observe()
    const before = feed.version()
    line.delay(4_500)
    await client.query(`select pg_notify('shoal_changes', 'change')`)
    clock.advance(3_000)
    const versions = [feed.version()]
    await expect
      .poll(() => {
        clock.advance(500)
        versions.push(feed.version())
        return heartbeats.length
      })
      .toBeGreaterThanOrEqual(4)
    expect(new Set(versions)).toEqual(new Set([undefined]))
    line.delay(0)
    await expect
      .poll(() => {
        clock.advance(500)
        return feed.version()
      })
      .toBeDefined()
    expect(feed.version()).not.toBe(before)
  })

  test('notices download counts of a node that was disconnected when it counted them', async () => {
    const [one, two] = [openThroughLine(), openDirectly()]
    await expect.poll(one.version).toBeDefined()
    await expect.poll(two.version).toBeDefined()
    await line.cut()
    await expect.poll(one.version).toBeUndefined()
    one.noteCounts()
    const before = two.version()
    const withoutCounts = two.versionWithoutCounts()
    clock.advance(1_000) // the notification is due
    await line.restore()
    await expect.poll(two.version).not.toBe(before)
    expect(two.versionWithoutCounts()).toBe(withoutCounts)
  })

  test('changes its version when a node disappears, because that node may have counted downloads unnoticed', async () => {
    const [one, two] = [openThroughLine(), openDirectly()]
    await expect.poll(one.version).toBeDefined()
    await expect.poll(two.version).toBeDefined()
    const heartbeats = await observe()
    clock.advance(1_000)
    await expect.poll(() => heartbeats).toHaveLength(2)
    const before = two.version()
    const withoutCounts = two.versionWithoutCounts()
    await line.cut()
    for (let second = 1; second <= 7; second += 1) {
      clock.advance(1_000)
      await expect.poll(() => heartbeats).toHaveLength(2 + second)
    }
    await expect.poll(two.version).not.toBe(before)
    expect(two.versionWithoutCounts()).toBe(withoutCounts) // no writes can have gone unnoticed
  })
})
