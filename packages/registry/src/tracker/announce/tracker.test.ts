import { newPeerId } from '@shoal/model-file'
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { decodePayload } from '../../metadata-peer/bencode.ts'
import { memorySwarms } from '../../swarm/memory-swarms.ts'
import { ownAddress } from './own-address.ts'
import type { HttpAnnounce } from './read-http-announce.ts'
import { tracker } from './tracker.ts'
import { trackerMetrics } from './tracker-metrics.ts'

const swarms = memorySwarms({ silentAfterMs: 60_000, limits: { peersPerNetwork: 12 } })
const metrics = new Registry()
afterEach(() => swarms.close())

const ours = tracker({
  swarms,
  torrents: {
    find: async (infoHash) => ({ swarm: infoHash, isPrivate: infoHash.startsWith('b') }),
    get: async (infoHash) => ({ swarm: infoHash, isPrivate: infoHash.startsWith('b') }),
  },
  own: ownAddress({
    baseUrl: () => 'https://models.example.org',
    resolve: async () => ['203.0.113.5'],
    log: console,
  }),
  extraPeer: () => ({ port: 7_000 }),
  intervalSeconds: 900,
  metrics: trackerMetrics(metrics, swarms),
})

let peers = 0

/** Returns the peers that a client receives, in the form `192.0.2.1:6881`. */
async function requestPeers(
  from: { address: string; reachedAt?: string },
  overrides: Partial<HttpAnnounce> = {},
): Promise<string[]> {
  peers += 1
  const announce: HttpAnnounce = {
    infoHash: 'a'.repeat(40),
    peerId: `2d5757${peers.toString(16).padStart(34, '0')}`, // webtorrent
    event: 'started',
    isSeeder: false,
    port: 2_000 + peers,
    count: 50,
    isCompact: false,
    hasPeerIds: true,
    ...overrides,
  }
  const announcer = { reachedAt: undefined, token: undefined, ...from }
  const answer = decodePayload(await ours.announce(announce, announcer)) as Map<string, unknown>
  const list = answer.get('peers') as Map<string, unknown>[]
  return list.map((peer) => `${peer.get('ip')}:${peer.get('port')}`)
}

test('responses include our own peer, at the address that the client reached', async () => {
  const infoHash = 'c'.repeat(40)
  const local = { address: '127.0.0.1', reachedAt: '127.0.0.1' }
  expect(await requestPeers(local, { infoHash })).toEqual(['127.0.0.1:7000'])
  const lan = { address: '192.168.1.7', reachedAt: '192.168.1.5' }
  expect(await requestPeers(lan, { infoHash })).toContain('192.168.1.5:7000')
  const internet = { address: '198.51.100.9', reachedAt: '10.0.0.5' }
  expect(await requestPeers(internet, { infoHash })).toContain('203.0.113.5:7000')
})

test('responses to stopped clients, to clients that want no peers, to clients of shoal and for private files do not include our own peer', async () => {
  const local = { address: '127.0.0.1', reachedAt: '127.0.0.1' }
  const infoHash = 'd'.repeat(40)
  expect(await requestPeers(local, { infoHash, event: 'stopped' })).toEqual([])
  expect(await requestPeers(local, { infoHash, count: 0 })).toEqual([])
  const peerId = Buffer.from(newPeerId()).toString('hex')
  expect(await requestPeers(local, { infoHash: 'f'.repeat(40), peerId })).toEqual([])
  expect(await requestPeers(local, { infoHash: 'b'.repeat(40) })).toEqual([])
})

test("a peer on the registry's machine is returned with the address at which clients reached the registry", async () => {
  const infoHash = 'e'.repeat(40)
  const local = { address: '127.0.0.1', reachedAt: '127.0.0.1' }
  await requestPeers(local, { infoHash, port: 6_881 })
  expect(await requestPeers({ ...local, address: '127.0.0.2' }, { infoHash })).toContain(
    '127.0.0.1:6881',
  )
  const lan = { address: '192.168.1.7', reachedAt: '192.168.1.5' }
  expect(await requestPeers(lan, { infoHash, port: 6_882 })).toContain('192.168.1.5:6881')
  const internet = { address: '198.51.100.9', reachedAt: '203.0.113.5' }
  expect(await requestPeers(internet, { infoHash, event: 'stopped' })).toEqual([])
  const toInternet = await requestPeers(internet, { infoHash })
  expect(toInternet).toContain('203.0.113.5:6881')
  expect(toInternet.filter((peer) => /^(127|192)/.test(peer))).toEqual([])
  expect(await requestPeers(local, { infoHash })).toContain('192.168.1.7:6882')
})

test('a client that stores one peer per address receives the latest seeder of each address; shoal receives all peers', async () => {
  const infoHash = `b${'1'.repeat(39)}` // private, so that responses do not include our own peer
  const killed = { address: '198.51.100.20' }
  for (const port of [5_001, 5_002, 5_003])
    await requestPeers(killed, { infoHash, port, isSeeder: true })
  await requestPeers(killed, { infoHash, port: 5_004 })
  for (const port of [5_001, 5_002])
    await requestPeers({ address: '198.51.100.21' }, { infoHash, port })
  const from = { address: '198.51.100.22' }
  const latest = ['198.51.100.20:5003', '198.51.100.21:5002']
  const libtorrent = { infoHash, peerId: Buffer.from('-LT2080-abcdefghijkl').toString('hex') }
  expect((await requestPeers(from, libtorrent)).sort()).toEqual(latest)
  const shoal = { infoHash, peerId: Buffer.from(newPeerId()).toString('hex') }
  expect(await requestPeers({ address: '198.51.100.23' }, shoal)).toHaveLength(7)

  for (let port = 5_005; port <= 5_013; port += 1) await requestPeers(killed, { infoHash, port })
  expect(await metrics.metrics()).toContain('shoal_tracker_refused_total{limit="network"} 1')
})
