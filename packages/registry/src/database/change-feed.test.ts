import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { breakableLine } from '../testing/breakable-line.ts'
import { makeDatabase } from '../testing/test-registry.ts'
import { type ChangeFeed, openChangeFeed } from './change-feed.ts'

const ignore = () => undefined

describe.skipIf(!hasPostgres)('the change feed of a node', () => {
  let url: URL
  let line: Awaited<ReturnType<typeof breakableLine>>

  beforeEach(async () => {
    url = new URL(await makeDatabase())
    line = await breakableLine(`${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`)
  })
  afterEach(() => line.cut())

  function open(connectionString: string): ChangeFeed {
    const feed = openChangeFeed({ connectionString, onConnectionLost: ignore })
    onTestFinished(feed.close)
    return feed
  }

  async function connect() {
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  /** Resolves when `count` nodes have sent a heartbeat. */
  async function untilHeard(count: number) {
    const nodes = new Set<string | undefined>()
    const client = await connect()
    client.on('notification', ({ payload = '' }) => nodes.add(payload.split(' ')[1]))
    await client.query('listen shoal_changes')
    await expect.poll(() => nodes.size).toBe(count)
  }

  const openDirectly = () => open(url.href)
  const openThroughLine = () =>
    open(`postgres://${url.username}@127.0.0.1:${line.port}${url.pathname}`)

  test('has no version while notifications arrive too late, even if they arrive regularly', async () => {
    const feed = openThroughLine()
    await expect.poll(feed.version).toBeDefined()
    const client = await connect()
    const before = feed.version()
    line.delay(4_500)
    await client.query(`select pg_notify('shoal_changes', 'change')`)
    await expect.poll(feed.version, { interval: 100 }).toBeUndefined()
    for (let turn = 0; turn < 60; turn += 1) {
      expect(feed.version()).toBeUndefined()
      await sleep(100)
    }
    line.delay(0)
    await expect.poll(feed.version).toBeDefined()
    expect(feed.version()).not.toBe(before)
  })

  test('notices download counts of a node that was disconnected when it counted them', async () => {
    const [one, two] = [openThroughLine(), openDirectly()]
    await expect.poll(one.version).toBeDefined()
    await expect.poll(two.version).toBeDefined()
    await line.cut()
    one.noteCounts()
    const before = two.version()
    const withoutCounts = two.versionWithoutCounts()
    await sleep(1_200) // the notification is due after a second
    await line.restore()
    await expect.poll(two.version).not.toBe(before)
    expect(two.versionWithoutCounts()).toBe(withoutCounts)
  })

  test('changes its version when a node disappears, because that node may have counted downloads unnoticed', async () => {
    const [one, two] = [openThroughLine(), openDirectly()]
    await expect.poll(one.version).toBeDefined()
    await expect.poll(two.version).toBeDefined()
    await untilHeard(2)
    const before = two.version()
    await line.cut()
    await expect.poll(two.version).not.toBe(before)
  })
})
