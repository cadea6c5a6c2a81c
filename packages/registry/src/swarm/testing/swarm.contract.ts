import { setTimeout } from 'node:timers/promises'
import type { Reach } from '@shoal/core/addresses'
import { afterEach, describe, expect, test } from 'vitest'
import type { BrowserPeer, Peer, Swarms, TcpPeer } from '../swarm.ts'

const everywhere: Reach[] = ['loopback', 'private', 'public']
const many = { count: 1_000, reaches: everywhere }
const silentAfterMs = 300

/** Defines the tests that every implementation of `Swarms` must pass. */
export function swarmContract(
  name: string,
  open: (options: { silentAfterMs: number }) => Promise<Swarms>,
) {
  describe(`swarms (${name})`, () => {
    const opened: Swarms[] = []
    afterEach(() => Promise.all(opened.splice(0).map((swarms) => swarms.close())))

    async function start(options = { silentAfterMs: 60_000 }) {
      const swarms = await open(options)
      opened.push(swarms)
      return swarms
    }

    test('return other peers of the same kind to a peer, and never the peer itself', async () => {
      const swarms = await start()
      const [first, second, third] = [leecher(1), leecher(2), seeder(3)]
      const browsers = [browser(4), browser(5)] as const
      expect(await swarms.announce('s', first, many)).toMatchObject({
        refusal: undefined,
        peers: [],
      })
      for (const peer of [second, third, ...browsers]) await swarms.announce('s', peer, many)
      const listPeers = async (peer: Peer) => ids((await swarms.announce('s', peer, many)).peers)
      expect(await listPeers(first)).toEqual(ids([second, third]))
      expect(await listPeers(browsers[0])).toEqual(ids([browsers[1]]))
      expect(await listPeers({ ...first, port: 5_999 })).toEqual(ids([second, third]))
    })

    test('return peers in the order of their last announces', async () => {
      const swarms = await start()
      const announceLater = async (peer: Peer) => {
        await setTimeout(2) // Redis measures in milliseconds
        return (await swarms.announce('s', peer, many)).peers.map(({ peerId }) => peerId)
      }
      for (const number of [1, 2, 3, 4, 1]) await announceLater(leecher(number))
      expect(await announceLater(seeder(9))).toEqual([2, 3, 4, 1].map(toPeerId))
    })

    test('return no seeders to seeders', async () => {
      const swarms = await start()
      await swarms.announce('s', seeder(1), many)
      await swarms.announce('s', leecher(2), many)
      const { peers } = await swarms.announce('s', seeder(3), many)
      expect(peers).toEqual([leecher(2)])
      expect(ids((await swarms.announce('s', leecher(2), many)).peers)).toEqual(
        ids([seeder(1), seeder(3)]),
      )
    })

    test('are separate from each other', async () => {
      const swarms = await start()
      await swarms.announce('one', seeder(1), many)
      expect((await swarms.announce('other', leecher(2), many)).peers).toEqual([])
      expect(await swarms.counts('none')).toEqual({ complete: 0, incomplete: 0, completed: 0 })
      expect(await swarms.totals()).toEqual({ swarms: 2, peers: 2 })
    })

    test('return as many peers as requested, without duplicates, and every peer eventually', async () => {
      const swarms = await start()
      for (let number = 1; number <= 30; number += 1) {
        await swarms.announce('s', number % 2 === 0 ? leecher(number) : seeder(number), many)
      }
      const seen = new Set<string>()
      for (let turn = 0; turn < 100; turn += 1) {
        const { peers } = await swarms.announce('s', leecher(2), { ...many, count: 5 })
        expect(new Set(ids(peers)).size).toBe(5)
        for (const { peerId } of peers) seen.add(peerId)
      }
      expect(seen.size).toBe(29)
      expect((await swarms.announce('s', leecher(2), { ...many, count: 0 })).peers).toEqual([])
    })

    test('return only reachable peers', async () => {
      const swarms = await start()
      const [here, near, far] = [
        leecher(1, '127.0.0.1'),
        leecher(2, '192.168.1.7'),
        leecher(3, '2001:db8::3'),
      ]
      for (const peer of [here, near, far]) await swarms.announce('s', peer, many)
      const listPeers = async (...reaches: Reach[]) =>
        ids((await swarms.announce('s', leecher(9), { count: 10, reaches })).peers)
      expect(await listPeers('public')).toEqual(ids([far]))
      expect(await listPeers('private', 'public')).toEqual(ids([near, far]))
      expect(await listPeers('loopback')).toEqual(ids([here]))
      expect(await listPeers()).toEqual([])
    })

    test('count seeders, leechers and completed downloads', async () => {
      const swarms = await start()
      await swarms.announce('s', leecher(1), many)
      await swarms.announce('s', leecher(1), many)
      const version = swarms.seedersVersion()
      await swarms.announce('s', seeder(2), many)
      await expect.poll(() => swarms.seedersVersion()).not.toBe(version)
      expect(await swarms.counts('s')).toEqual({ complete: 1, incomplete: 1, completed: 0 })
      const { counts } = await swarms.announce('s', seeder(1), many)
      expect(counts).toEqual({ complete: 2, incomplete: 0, completed: 1 })
      const seeders = await swarms.countSeeders(['s', 'none'])
      expect([...seeders]).toEqual([
        ['s', 2],
        ['none', 0],
      ])
    })

    test('remove peers that leave, and end when the last peer leaves', async () => {
      const swarms = await start()
      await swarms.announce('s', seeder(1), many)
      await swarms.announce('s', leecher(2), many)
      expect(await swarms.leave('s', seeder(1))).toMatchObject({ complete: 0, incomplete: 1 })
      expect((await swarms.countSeeders(['s'])).get('s')).toBe(0)
      await swarms.leave('s', leecher(2))
      await swarms.leave('s', leecher(2))
      expect(await swarms.totals()).toEqual({ swarms: 0, peers: 0 })
    })

    test('let no peer remove another', async () => {
      const swarms = await start()
      await swarms.announce('s', leecher(1), many)
      await swarms.announce('s', browser(2), many)
      await swarms.leave('s', { ...leecher(1), peerId: toPeerId(7) })
      await swarms.leave('s', { ...leecher(1), address: '203.0.113.99' })
      await swarms.leave('s', { ...browser(2), channel: 'another' })
      expect(await swarms.totals()).toMatchObject({ peers: 2 })
    })

    test('remove peers that time out', async () => {
      const swarms = await start({ silentAfterMs })
      await swarms.announce('s', seeder(1), many)
      const announceAgain = async () => (await swarms.announce('s', leecher(2), many)).counts
      expect(await announceAgain()).toMatchObject({ complete: 1, incomplete: 1 })
      await expect.poll(announceAgain).toMatchObject({ complete: 0, incomplete: 1 })
      expect((await swarms.countSeeders(['s'])).get('s')).toBe(0)
      await expect.poll(() => swarms.totals()).toEqual({ swarms: 0, peers: 0 })
    })

    test('find a browser by its peer ID while it is connected', async () => {
      const swarms = await start()
      await swarms.announce('s', browser(1), many)
      await swarms.announce('s', leecher(2), many)
      expect(await swarms.findBrowser('s', toPeerId(1))).toEqual(browser(1))
      expect(await swarms.findBrowser('s', toPeerId(2))).toBeUndefined()
      expect(await swarms.findBrowser('other', toPeerId(1))).toBeUndefined()
      await swarms.leave('s', browser(1))
      expect(await swarms.findBrowser('s', toPeerId(1))).toBeUndefined()
    })

    test('let only a new channel from the same address take over a browser’s peer ID', async () => {
      const swarms = await start()
      await swarms.announce('s', browser(1), many)
      const thief = { ...browser(1), channel: 'thief', address: '203.0.113.66' }
      expect(await swarms.announce('s', thief, many)).toMatchObject({ refusal: 'peer_id' })
      expect(await swarms.findBrowser('s', toPeerId(1))).toEqual(browser(1))
      const again = { ...browser(1), channel: 'again' }
      expect(await swarms.announce('s', again, many)).toMatchObject({ refusal: undefined })
      await swarms.leave('s', browser(1)) // the old channel closes only after it has been replaced
      expect(await swarms.findBrowser('s', toPeerId(1))).toEqual(again)
    })
  })
}

export const toPeerId = (number: number) => number.toString(16).padStart(40, '0')

export function leecher(number: number, address = `203.0.113.${number}`): TcpPeer {
  return { kind: 'tcp', peerId: toPeerId(number), address, port: 6_881, isSeeder: false }
}

const seeder = (number: number): TcpPeer => ({ ...leecher(number), isSeeder: true })

function browser(number: number): BrowserPeer {
  const address = `203.0.113.${number}`
  const channel = `channel ${number}`
  return { kind: 'browser', peerId: toPeerId(number), address, channel, isSeeder: false }
}

const ids = (peers: Peer[]) => peers.map(({ peerId }) => peerId).sort()
