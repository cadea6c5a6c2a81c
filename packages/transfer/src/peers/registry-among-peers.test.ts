import { EventEmitter } from 'node:events'
import { movedClock } from '@shoal/core/testing'
import { newPeerId } from '@shoal/model-file'
import { directNetwork } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import type Wire from 'bittorrent-protocol'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Torrent } from 'webtorrent'
import { registryAmongPeers } from './registry-among-peers.ts'
import type { RegistryWire } from './registry-wire.ts'

const count = 40
const all = Array.from({ length: count }, (_, index) => index)
const pullers = Array.from({ length: 4 }, () => Buffer.from(newPeerId()).toString('hex'))
const [self = '', other = ''] = pullers

/** Starts a simulated pull of 40 pieces with this peer ID, connected to these peers. */
function startPull(peerId: string, peerIds: string[]) {
  const clock = movedClock()
  clock.advance(1) // so that no timeout begins at 0
  const here = new Set<number>()
  const offered = new Set<number>()
  const sent = { bytes: 0 }
  const peers = peerIds.map((id) => {
    const pieces = new Set<number>()
    const peerPieces = { get: (index: number) => pieces.has(index) }
    const wire = Object.assign(new EventEmitter(), { type: 'tcpOutgoing', peerId: id, peerPieces })
    const receive = (...indexes: number[]) => {
      for (const index of indexes) pieces.add(index)
      wire.emit('have', indexes[0])
    }
    return Object.assign(wire, { receive })
  })
  const torrent = Object.assign(new EventEmitter(), {
    wires: peers as unknown as Wire[],
    pieces: all.map(() => ({})),
    pieceLength: 1024 * 1024,
    bitfield: { get: (index: number) => here.has(index) },
    addWebSeed(wire: RegistryWire) {
      wire.emit('handshake', '00'.repeat(20))
      vi.spyOn(wire, 'have').mockImplementation((index) => offered.add(index))
      vi.spyOn(wire.lt_donthave, 'donthave').mockImplementation((index) => offered.delete(index))
    },
  })
  const network = openNetwork(directNetwork, { connections: 1 })
  const registry = registryAmongPeers(torrent as unknown as Torrent, {
    ...{ network, peerId, fileSizeBytes: count * torrent.pieceLength },
    bytesFromPeers: () => sent.bytes,
    clock,
  })
  onTestFinished(() => {
    registry.use([])
    return network.destroy()
  })
  for (const peer of peers) torrent.emit('wire', peer)
  registry.use(['http://127.0.0.1:1/file'])
  registry.want({ from: 0, to: count - 1 })
  return {
    peers,
    registry,
    clock,
    /** Receives pieces that other peers did not send. */
    receive(...indexes: number[]) {
      for (const index of indexes) here.add(index)
    },
    /** Receives bytes from peers. */
    receiveBytes: () => {
      sent.bytes += 1
    },
    /** The pieces that are requested from the registry. */
    requested() {
      registry.poll()
      return [...offered].toSorted((a, b) => a - b)
    },
  }
}

describe('registryAmongPeers', () => {
  it('requests all wanted pieces if there are no other pullers', () => {
    const { registry, requested } = startPull(self, [])
    expect(requested()).toEqual(all)
    registry.leave({ from: 0, to: count - 1 })
    registry.want({ from: 3, to: 5 })
    expect(requested()).toEqual([3, 4, 5])
  })

  it('divides the pieces that no peer has among the pullers', () => {
    const requests = pullers.map((one) =>
      startPull(
        one,
        pullers.filter((id) => id !== one),
      ).requested(),
    )
    expect(requests.flat().toSorted((a, b) => a - b)).toEqual(all)
    for (const indexes of requests) expect(indexes.length).toBeGreaterThan(0)
  })

  it('does not expect other programs to fetch pieces from the registry', () => {
    const webtorrent = Buffer.from('-WW0300-abcdefabcdef').toString('hex')
    expect(startPull(self, [webtorrent]).requested()).toEqual(all)
  })

  it('requests a piece that a peer has only if peers have delivered nothing for 3 seconds', () => {
    const { peers, requested, receiveBytes, clock } = startPull(self, [other])
    peers[0]?.receive(...all)
    expect(requested()).toEqual([])
    clock.advance(2_900)
    expect(requested()).toEqual([])
    receiveBytes()
    expect(requested()).toEqual([])
    clock.advance(2_900)
    expect(requested()).toEqual([])
    clock.advance(200)
    expect(requested()).toEqual(all)
  })

  it('takes over the pieces of a puller that receives nothing for 5 seconds', () => {
    const { peers, requested, clock } = startPull(self, [other])
    const own = requested()
    expect(own.length).toBeLessThan(count)
    clock.advance(4_900)
    expect(requested()).toEqual(own)
    peers[0]?.emit('have', 0)
    clock.advance(4_900)
    expect(requested()).toEqual(own)
    clock.advance(200)
    expect(requested()).toEqual(all)
  })

  it('helps with one piece at a time 3 seconds after it has received all of its own pieces', () => {
    const { peers, requested, receive, clock } = startPull(self, [other])
    receive(...requested())
    expect(requested()).toEqual([])
    clock.advance(3_100)
    peers[0]?.emit('have', 0)
    const [first = -1, ...others] = requested()
    expect(others).toEqual([])
    receive(first)
    expect(requested()).toHaveLength(1)
    expect(requested()).not.toContain(first)
  })
})
