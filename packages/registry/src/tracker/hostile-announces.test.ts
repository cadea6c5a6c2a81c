import { beforeAll, expect, test } from 'vitest'
import { publish, smallGguf } from '../testing/publish.ts'
import { rawAnnounce, trackerAnswer, trackerQuery, twenty } from '../testing/raw-announce.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

describeApi('a hostile announce', { on: ['SQLite', 'three nodes'] }, (start, oneNodeTest) => {
  let registry: TestRegistry
  let info_hash: string

  beforeAll(async () => {
    registry = await start()
    const token = await registry.register('ana')
    const file = await publish(registry, token, { name: 'tiny' }, 'tiny.gguf', smallGguf(1))
    info_hash = file.torrent_info_hash ?? ''
  })

  const good = () => ({ info_hash, peer_id: twenty(1), port: 6_881, left: 1, event: 'started' })
  const without = (name: string) => {
    const { [name]: _, ...others } = good() as Record<string, string | number>
    return `/announce?${trackerQuery(others)}`
  }
  async function expectNobody() {
    const { text } = await registry.get('/metrics')
    expect(text).toContain('\nshoal_tracker_peers 0\n')
    expect(text).toContain('\nshoal_tracker_swarms 0\n')
  }

  test.each([
    ['info_hash', '', 'info_hash is not 20 bytes long'],
    ['info_hash', 'aa'.repeat(19), 'info_hash is not 20 bytes long'],
    ['info_hash', 'aa'.repeat(21), 'info_hash is not 20 bytes long'],
    ['info_hash', 'aa'.repeat(4_000), 'info_hash is not 20 bytes long'],
    ['peer_id', 'aa'.repeat(19), 'peer_id is not 20 bytes long'],
    ['port', 0, 'port must be a number from 1024 to 65535'],
    ['port', 80, 'port must be a number from 1024 to 65535'],
    ['port', 1_023, 'port must be a number from 1024 to 65535'],
    ['port', 65_536, 'port must be a number from 1024 to 65535'],
    ['port', -6_881, 'port must be a number from 1024 to 65535'],
    ['port', '6881.5', 'port must be a number from 1024 to 65535'],
    ['port', '0x1AE1', 'port must be a number from 1024 to 65535'],
    ['port', '', 'port must be a number from 1024 to 65535'],
    ['left', -1, 'left is not a number of bytes'],
    ['left', '1e9', 'left is not a number of bytes'],
    ['left', '9'.repeat(21), 'left is not a number of bytes'],
    ['uploaded', -1, 'uploaded is not a number of bytes'],
    ['downloaded', 'lots', 'downloaded is not a number of bytes'],
    ['numwant', '9'.repeat(11), 'numwant must be a number'],
    ['numwant', 'all', 'numwant must be a number'],
    ['event', 'exploded', 'event must be started, completed, stopped or paused'],
    ['event', ['started', 'stopped'], 'event is given 2 times'],
    ['port', ['6881', '6882'], 'port is given 2 times'],
    ['info_hash', [twenty(1), twenty(2), twenty(3)], 'info_hash is given 3 times'],
  ])('with %s %s is refused', async (name, value, failure) => {
    const { status, failure: found } = await rawAnnounce(registry, { ...good(), [name]: value })
    expect({ status, failure: found }).toEqual({ status: 200, failure })
    await expectNobody()
  })

  test.each(['info_hash', 'peer_id', 'port'])('without %s is refused', async (name) => {
    expect((await trackerAnswer(registry, without(name))).failure).toContain(name)
    await expectNobody()
  })

  test('with an invalid query is refused', async () => {
    const long = `x=${'1&'.repeat(5_000)}`
    const queries = [
      '',
      '?',
      '?&&&',
      '?=',
      '?%',
      '?info_hash=%',
      '?info_hash=%zz',
      '?%00',
      `?${long}`,
    ]
    for (const query of queries) {
      const { status, failure } = await trackerAnswer(registry, `/announce${query}`)
      expect.soft({ status, failure }, query.slice(0, 30)).toEqual({
        status: 200,
        failure: expect.stringContaining('info_hash'),
      })
    }
    await expectNobody()
  })

  oneNodeTest('of 16 KiB or more is not read', async () => {
    const request = (bytes: number) =>
      rawRequest(
        registry.port,
        `GET /announce?info_hash=${'%aa'.repeat(bytes)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      )
    expect(await request(7_000)).toMatchObject({ status: 431 })
    // This request is cut off while it is still being sent, so its response may be lost.
    await Promise.allSettled([request(350_000)])
    await expectNobody()
  })

  test('for an untracked torrent is refused, and not stored', async () => {
    const { failure } = await rawAnnounce(registry, { ...good(), info_hash: twenty(7) })
    expect(failure).toBe('this registry does not track this info hash')
    const { failure: reason } = await rawAnnounce(registry, good(), { path: '/announce/%00.1.x' })
    expect(reason ?? 'an error').not.toBe('')
    await expectNobody()
  })

  test('by a web page is refused', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const { failure } = await rawAnnounce(registry, good(), { headers })
      expect(failure).toBe('browsers must announce over WebSocket')
    }
    await expectNobody()
  })

  test('with another hostname in the Host header is refused', async () => {
    const request = `GET ${without('')} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
    expect(await rawRequest(registry.port, request)).toMatchObject({ status: 400 })
    await expectNobody()
  })

  test('with a method other than GET gets 404', async () => {
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE']) {
      expect((await registry.call(method, without(''))).status, method).toBe(404)
    }
    await expectNobody()
  })

  test('cannot remove other peers from a swarm', async () => {
    await rawAnnounce(registry, good())
    await rawAnnounce(registry, { ...good(), peer_id: twenty(2), event: 'stopped' })
    await rawAnnounce(registry, { ...good(), port: 6_882, event: 'stopped' })
    const { text } = await registry.get('/metrics')
    expect(text).toContain('\nshoal_tracker_peers 1\n')
    await rawAnnounce(registry, { ...good(), event: 'stopped' })
    await expectNobody()
  })
})

describeApi('a hostile scrape', { on: ['SQLite'] }, (start) => {
  test('of no torrent, of all torrents or of too many torrents is refused', async () => {
    const registry = await start()
    const getFailure = async (query: string) =>
      (await trackerAnswer(registry, `/scrape${query}`)).failure
    expect(await getFailure('')).toBe('info_hash is missing')
    expect(await getFailure('?info_hash=abc')).toBe('info_hash is not 20 bytes long')
    expect(await getFailure(`?${trackerQuery({ info_hash: twenty(1) })}`)).toBe(
      'this registry does not track this info hash',
    )
    const many = Array.from({ length: 51 }, (_, number) => twenty(number))
    expect(await getFailure(`?${trackerQuery({ info_hash: many })}`)).toBe(
      'a scrape may contain at most 50 torrents',
    )
  })
})
