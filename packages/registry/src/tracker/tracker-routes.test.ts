import { movedClock } from '@shoal/core/testing'
import type { Download, ModelFile } from '@shoal/protocol'
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { RegistryConfig } from '../config.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { rawAnnounce, twenty } from '../testing/raw-announce.ts'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'
import { closeTrackerClients, trackerClient } from '../testing/tracker-client.ts'

afterEach(closeTrackerClients)

type Start = (settings?: Partial<RegistryConfig>) => Promise<TestRegistry>
type Published = ModelFile & { info_hash: string; announce: string }

/** Starts a registry in which Ana publishes models with one file each. */
async function startPublishing(start: Start, settings?: Partial<RegistryConfig>) {
  const registry = await start({ peerPort: undefined, ...settings })
  const token = await registry.register('ana')
  let count = 0

  return {
    registry,
    token,
    async publish(isPublic = true): Promise<Published> {
      count += 1
      const name = `model-${count}`
      const model = { name, is_public: isPublic }
      const file = await publish(registry, token, model, `${name}.gguf`, smallGguf(count))
      return { ...file, ...(await getTorrent(file)) }
    },
    getTorrent,
  }

  async function getTorrent({ model_id, id }: ModelFile) {
    const path = `/v1/files/${model_id}/download/${id}`
    const { body }: { body: Download } = await registry.get(path, { token })
    const announce = new URL(body.magnet_uri).searchParams.get('tr') ?? ''
    return { info_hash: body.torrent_info_hash, announce }
  }
}

describeApi('the tracker over HTTP', { on: ['SQLite', 'three nodes'] }, (start, oneNodeTest) => {
  const clock = movedClock()
  let here: Awaited<ReturnType<typeof startPublishing>>

  beforeAll(async () => {
    here = await startPublishing(start, { clock })
  })

  /** Returns a file's number of seeders. Poll the result, because a node's count may be up to two seconds old. */
  const countSeeders = async ({ model_id, id }: ModelFile, token?: string) => {
    const path = `/v1/models/${model_id}/files`
    const { body: list }: { body: ModelFile[] } = await here.registry.get(path, { token })
    const { body: one }: { body: ModelFile } = await here.registry.get(`${path}/${id}`, { token })
    expect(one.seeders).toBe(list[0]?.seeders)
    return one.seeders
  }

  test('returns clients’ addresses to each other', async () => {
    const { announce, info_hash } = await here.publish()
    const seeder = trackerClient(announce, info_hash, 2_001)
    const other = trackerClient(announce, info_hash, 2_002)
    const leecher = trackerClient(announce, info_hash, 2_003)
    expect(await seeder.start({ left: 0 })).toMatchObject({ complete: 1, incomplete: 0 })
    await other.start({ left: 0 })
    expect(other.peers).toEqual([])
    expect(await leecher.start()).toMatchObject({ complete: 2, incomplete: 1, interval: 900 })
    expect(leecher.peers.sort()).toEqual(['127.0.0.1:2001', '127.0.0.1:2002'])
    await seeder.update({ left: 0 })
    expect(seeder.peers).toEqual(['127.0.0.1:2003'])
  })

  test('counts completed downloads, and reports them in a scrape', async () => {
    const { announce, info_hash } = await here.publish()
    const client = trackerClient(announce, info_hash)
    await client.start({ left: 5 })
    expect(await client.scrape()).toMatchObject({ complete: 0, incomplete: 1, downloaded: 0 })
    await client.complete({ left: 0 })
    expect(await client.scrape()).toMatchObject({ complete: 1, incomplete: 0, downloaded: 1 })
    await client.stop({ left: 0 })
    expect(await client.scrape()).toMatchObject({ complete: 0, incomplete: 0 })
  })

  test('provides the number of seeders in the API', async () => {
    const file = await here.publish()
    await expect.poll(() => countSeeders(file)).toBe(0)
    const client = trackerClient(file.announce, file.info_hash)
    await client.start({ left: 0 })
    await expect.poll(() => countSeeders(file)).toBe(1)
    await client.update({ left: 0 })
    await expect.poll(() => countSeeders(file)).toBe(1)
    await client.stop({ left: 0 })
    await expect.poll(() => countSeeders(file)).toBe(0)
  })

  test('returns no peers to stopped clients, or to clients that request none', async () => {
    const { info_hash } = await here.publish()
    await rawAnnounce(here.registry, { info_hash, port: 2_001 })
    const other = { info_hash, peer_id: twenty(2), port: 2_002 }
    expect(await rawAnnounce(here.registry, other)).toMatchObject({ peers: ['127.0.0.1:2001'] })
    const stopped = await rawAnnounce(here.registry, { ...other, event: 'stopped' })
    expect(stopped).toMatchObject({ peers: [], incomplete: 1 })
    expect(await rawAnnounce(here.registry, { ...other, numwant: 0 })).toMatchObject({ peers: [] })
  })

  test('also returns peers as a list, with or without their IDs', async () => {
    const { info_hash } = await here.publish()
    await rawAnnounce(here.registry, { info_hash, port: 2_001 })
    const other = { info_hash, peer_id: twenty(2), port: 2_002, compact: 0 }
    const peer = { ip: '127.0.0.1', port: 2_001 }
    const { list } = await rawAnnounce(here.registry, other)
    expect(list).toEqual([{ ...peer, peerId: twenty(1) }])
    const brief = await rawAnnounce(here.registry, { ...other, no_peer_id: 1 })
    expect(brief.list).toEqual([{ ...peer, peerId: undefined }])
  })

  test('returns 50 peers, or as many as requested up to 200', async () => {
    const { info_hash } = await here.publish()
    for (let port = 3_001; port <= 3_210; port += 1) {
      await rawAnnounce(here.registry, { info_hash, port, numwant: 0 })
    }
    const countPeers = async (parameters: object) => {
      const webtorrent = Buffer.from('-WW0300-abcdefghijkl').toString('hex')
      const asker = { info_hash, peer_id: webtorrent, ...parameters }
      return (await rawAnnounce(here.registry, asker)).peers.length
    }
    expect(await countPeers({})).toBe(50)
    expect(await countPeers({ numwant: '' })).toBe(50)
    expect(await countPeers({ numwant: -1 })).toBe(50)
    expect(await countPeers({ numwant: 7 })).toBe(7)
    expect(await countPeers({ numwant: 1_000_000 })).toBe(200)
  })

  test('uses the address of the connection, regardless of what the client sends', async () => {
    const { info_hash } = await here.publish()
    const addresses = { ip: '203.0.113.9', ipv4: '203.0.113.9', ipv6: '2001:db8::9' }
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    await rawAnnounce(here.registry, { info_hash, port: 2_001, ...addresses }, { headers })
    const { peers } = await rawAnnounce(here.registry, {
      info_hash,
      port: 2_002,
      peer_id: twenty(2),
    })
    expect(peers).toEqual(['127.0.0.1:2001'])
  })

  test('tracks a private file only for clients with its token', async () => {
    const file = await here.publish(false)
    const other = await here.publish(false)
    const { registry } = here
    const member = trackerClient(file.announce, file.info_hash)
    expect(file.announce).toMatch(/\/announce\/.+/)
    expect(await member.start({ left: 0 })).toMatchObject({ complete: 1 })
    await expect.poll(() => countSeeders(file, here.token)).toBe(1)

    const refusal = { failure: 'this registry does not track this info hash' }
    const { info_hash } = file
    expect(await rawAnnounce(registry, { info_hash })).toMatchObject(refusal)
    const path = new URL(other.announce).pathname
    expect(await rawAnnounce(registry, { info_hash }, { path })).toMatchObject(refusal)
    const broken = await rawAnnounce(registry, { info_hash }, { path: `${path}x` })
    expect(broken.failure).toBe('this link is not valid')
    for (const place of ['/scrape', path.replace('announce', 'scrape')]) {
      const { text } = await registry.get(`${place}?info_hash=${info_hash.replace(/../g, '%$&')}`)
      expect(text).toContain('failure reason')
    }
    const scrape = new URL(file.announce).pathname.replace('announce', 'scrape')
    const { text } = await registry.get(`${scrape}?info_hash=${info_hash.replace(/../g, '%$&')}`)
    expect(text).toContain('8:completei1e')
  })

  test('separates peers that have the same file in two private models', async () => {
    const bytes = smallGguf(250)
    const bob = await here.registry.register('bob')
    const anas = { name: 'private-of-ana', is_public: false }
    const bobs = { name: 'private-of-bob', is_public: false }
    const one = await publish(here.registry, here.token, anas, 'same.gguf', bytes)
    const other = await publish(here.registry, bob, bobs, 'same.gguf', bytes)
    expect(one.torrent_info_hash).toBe(other.torrent_info_hash)
    const { announce, info_hash } = await here.getTorrent(one)
    await trackerClient(announce, info_hash, 2_001).start({ left: 0 })
    await expect.poll(() => countSeeders(one, here.token)).toBe(1)
    await expect.poll(() => countSeeders(other, bob)).toBe(0)
  })

  test('stops tracking an info hash within seconds when its file becomes private, becomes public or is deleted', async () => {
    const { registry, token } = here
    const file = await here.publish()
    const { info_hash, model_id } = file
    const publicAnnounce = () => rawAnnounce(registry, { info_hash })
    const change = (is_public: boolean) =>
      registry.call('PATCH', `/v1/models/${model_id}`, { token, body: { is_public } })
    const refusal = { failure: expect.any(String) }
    expect(await publicAnnounce()).toMatchObject({ incomplete: 1 })

    await change(false)
    clock.advance(2_000)
    expect(await publicAnnounce()).toMatchObject(refusal)
    const asPrivate = await here.getTorrent(file)
    const path = new URL(asPrivate.announce).pathname
    const privateAnnounce = () =>
      rawAnnounce(registry, { info_hash: asPrivate.info_hash }, { path })
    expect(await privateAnnounce()).toMatchObject({ incomplete: 1 })

    await change(true)
    clock.advance(2_000)
    expect(await privateAnnounce()).toMatchObject(refusal)
    expect(await publicAnnounce()).toMatchObject({ incomplete: 1 })

    await registry.call('DELETE', `/v1/models/${model_id}/files/${file.id}`, { token })
    clock.advance(2_000)
    expect(await publicAnnounce()).toMatchObject(refusal)
  })

  oneNodeTest('exports metrics', async () => {
    const { info_hash } = await here.publish()
    await rawAnnounce(here.registry, { info_hash, event: 'started' })
    await rawAnnounce(here.registry, { info_hash: twenty(9), event: 'started' })
    const { text } = await here.registry.get('/metrics')
    const announces = 'shoal_tracker_announces_total{protocol="http",event="started",outcome='
    expect(text).toContain(`${announces}"answered"}`)
    expect(text).toContain(`${announces}"refused"}`)
    expect(text).toMatch(/^shoal_tracker_peers [1-9]/m)
    expect(text).toMatch(/^shoal_tracker_swarms [1-9]/m)
    expect(text).toContain('shoal_tracker_sockets 0')
  })

  test('is not described in the OpenAPI document', async () => {
    const { text } = await here.registry.get('/openapi.json')
    expect(text).not.toContain('/announce')
    expect(text).not.toContain('/scrape')
  })
})

describeApi('a tracker with settings', { on: ['SQLite', 'three nodes'] }, (start) => {
  test('removes clients that do not announce for two intervals', async () => {
    const { registry, publish } = await startPublishing(start, { announceIntervalSeconds: 1 })
    const { info_hash } = await publish()
    const startedAt = performance.now()
    const first = await rawAnnounce(registry, { info_hash, port: 2_001, left: 0 })
    expect(first).toMatchObject({ interval: 1, minInterval: 1, complete: 1 })
    const second = { info_hash, port: 2_002, peer_id: twenty(2) }
    expect(await rawAnnounce(registry, second)).toMatchObject({ peers: ['127.0.0.1:2001'] })
    const alone = { complete: 0, incomplete: 1, peers: [] }
    await expect.poll(() => rawAnnounce(registry, second)).toMatchObject(alone)
    expect(performance.now() - startedAt).toBeGreaterThan(2_000)
  })

  test('serves anonymous clients even if only members may read', async () => {
    const { registry, publish } = await startPublishing(start, { isAnonymousReadAllowed: false })
    const { info_hash } = await publish()
    expect(await rawAnnounce(registry, { info_hash })).toMatchObject({ incomplete: 1 })
  })

  test('has a separate rate limit for announces', async () => {
    const few = { max: 2, windowSeconds: 60 }
    const many = { max: 1_000, windowSeconds: 60 }
    const rateLimits = { auth: many, write: many, read: many, chunk: many, tracker: few }
    const { registry, publish } = await startPublishing(start, { rateLimits })
    const { info_hash } = await publish()
    const statuses: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      statuses.push((await rawAnnounce(registry, { info_hash })).status)
    }
    expect(statuses).toEqual([200, 200, 429])
    expect((await registry.get('/v1/models')).status).toBe(200)
  })

  test('behind a proxy, returns to each client the peers that it can connect to', async () => {
    const { registry, publish } = await startPublishing(start, { trustProxy: 1 })
    const { info_hash } = await publish()
    const announce = (number: number, address: string) => {
      const headers = { 'x-forwarded-for': `198.51.100.1, ${address}` }
      const parameters = { info_hash, peer_id: twenty(number), port: 2_000 + number }
      return rawAnnounce(registry, parameters, { headers })
    }
    const [internet, lan, ipv6] = ['203.0.113.1', '192.168.1.7', '2001:db8::3']
    await announce(1, internet)
    await announce(2, lan)
    await announce(3, ipv6)
    const packedIpv6 = `[20010db8${'00'.repeat(11)}03]`
    expect((await announce(4, '203.0.113.4')).peers).toEqual([
      `${internet}:2001`,
      `${packedIpv6}:2003`,
    ])
    expect((await announce(5, '::ffff:192.168.1.8')).peers).toEqual([
      `${lan}:2002`,
      `${internet}:2001`,
      '203.0.113.4:2004',
      `${packedIpv6}:2003`,
    ])
  })
})
