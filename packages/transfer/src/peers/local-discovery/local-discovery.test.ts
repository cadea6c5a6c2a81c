import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { movedClock } from '@shoal/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { composeAnnouncements } from './local-announcement.ts'
import { startLocalDiscovery } from './local-discovery.ts'
import type { LocalNetwork } from './local-networks.ts'

/** The tests use loopback instead of a LAN, so that no packet leaves this machine. */
const loopback: LocalNetwork = {
  name: 'lo',
  family: 'IPv4',
  address: '127.0.0.1',
  cidr: '127.0.0.1/8',
  isReachable: true,
  speaksFrom: '127.0.0.1',
}
const group = '239.192.152.143'
const [shared = '', foreign = ''] = ['a', 'b'].map((digit) => digit.repeat(40))

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

type Parts = {
  groupPort: number
  port?: number
  infoHash?: string
  isPrivate?: boolean
  networks?: LocalNetwork[]
}

/**
 * Starts a client with one torrent. `peers` lists the peers that it finds for the torrent. It announces its torrent,
 * and checks its networks, only when the test moves its clock.
 */
function somebody(parts: Parts) {
  const { groupPort, port = 5000, infoHash = shared, isPrivate = false } = parts
  const clock = movedClock()
  const peers: string[] = []
  const torrent = {
    infoHash,
    private: isPrivate,
    destroyed: false,
    addPeer: (address: string) => peers.push(address) > 0,
  }
  const state = { isPaused: false, networks: parts.networks ?? [loopback] }
  const discovery = startLocalDiscovery({
    host: '127.0.0.1',
    groupPort,
    port: () => port,
    torrents: () => (state.isPaused ? [] : [torrent]),
    findNetworks: () => state.networks,
    clock,
  })
  onTestFinished(() => discovery.close())
  return {
    ...{ peers, discovery, state },
    /** Lets the client announce its torrent, unless something prevents it. */
    announce() {
      discovery.announceSoon()
      clock.advance(200)
    },
    poll: () => clock.advance(10_000),
  }
}

/** Opens another sender on the same LAN. It can send any packets. */
async function openSpeaker(groupPort: number) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => {
    socket.close()
  })
  socket.setMulticastInterface('127.0.0.1')
  const send = (packet: string) =>
    new Promise<void>((resolve) => socket.send(packet, groupPort, group, () => resolve()))
  const announce = (infoHashes: string[], port: number) =>
    Promise.all(
      composeAnnouncements(`${group}:6771`, { port, infoHashes, cookie: undefined }).map(send),
    )

  return {
    send,
    announce,
    /** Announces this sender until `peers` contains it. */
    async untilHeard(peers: string[], port = 6000) {
      const announceAgain = async () => {
        await announce([shared], port)
        return peers
      }
      await expect.poll(announceAgain).toContain(`127.0.0.1:${port}`)
    },
  }
}

test('a later client is found, and no client finds itself', async () => {
  const groupPort = await freeUdpPort()
  const first = somebody({ groupPort, port: 5001 })
  const { untilHeard } = await openSpeaker(groupPort)
  await untilHeard(first.peers)
  const second = somebody({ groupPort, port: 5002 })
  second.announce()
  await expect.poll(() => first.peers).toContain('127.0.0.1:5002')
  await untilHeard(second.peers, 6001) // by now, the second client has received its own packet, too
  expect(second.peers).not.toContain('127.0.0.1:5002')
})

test('an announced peer is added only to the announced torrent, and only if that torrent is not private', async () => {
  const groupPort = await freeUdpPort()
  const other = somebody({ groupPort, infoHash: foreign })
  const secret = somebody({ groupPort, isPrivate: true })
  const open = somebody({ groupPort })
  const { untilHeard } = await openSpeaker(groupPort)
  await untilHeard(open.peers)
  expect(other.peers).toEqual([])
  expect(secret.peers).toEqual([])
})

test('a paused client announces nothing and connects to no peer until it resumes', async () => {
  const groupPort = await freeUdpPort()
  const watcher = somebody({ groupPort, port: 5001 })
  const pausing = somebody({ groupPort, port: 5002 })
  pausing.state.isPaused = true
  pausing.announce()
  const { untilHeard } = await openSpeaker(groupPort)
  await untilHeard(watcher.peers)
  expect(pausing.peers).toEqual([])
  expect(watcher.peers).not.toContain('127.0.0.1:5002')
  pausing.state.isPaused = false
  pausing.announce()
  await expect.poll(() => watcher.peers).toContain('127.0.0.1:5002')
})

test('a client without a network announces its torrent as soon as there is a network', async () => {
  const groupPort = await freeUdpPort()
  const watcher = somebody({ groupPort, port: 5001 })
  const moving = somebody({ groupPort, port: 5002, networks: [] })
  moving.announce()
  const { untilHeard } = await openSpeaker(groupPort)
  await untilHeard(watcher.peers)
  moving.state.networks = [loopback]
  moving.poll()
  await expect.poll(() => watcher.peers).toContain('127.0.0.1:5002')
})

test('a client sends nothing after local discovery has been closed', async () => {
  const groupPort = await freeUdpPort()
  const watcher = somebody({ groupPort, port: 5001 })
  const leaving = somebody({ groupPort, port: 5002 })
  leaving.discovery.close()
  leaving.announce()
  leaving.poll()
  const { untilHeard } = await openSpeaker(groupPort)
  await untilHeard(watcher.peers)
  expect(leaving.peers).toEqual([])
  expect(watcher.peers).not.toContain('127.0.0.1:5002')
})

test('invalid packets and floods do no harm', async () => {
  const groupPort = await freeUdpPort()
  const { peers } = somebody({ groupPort })
  const { send, announce, untilHeard } = await openSpeaker(groupPort)
  await untilHeard(peers)
  for (const wrong of ['', 'BT-SEARCH * HTTP/1.1', 'x'.repeat(9000)]) await send(wrong)
  await untilHeard(peers, 6001)
  for (let port = 10_000; port < 12_000; port += 1) await announce([shared], port)
  expect(peers.length).toBeLessThanOrEqual(100)
})

test('a torrent that is announced together with 99 others is found', async () => {
  const groupPort = await freeUdpPort()
  const { peers } = somebody({ groupPort, infoHash: foreign })
  const { announce } = await openSpeaker(groupPort)
  const many = Array.from({ length: 99 }, (_, index) => index.toString(16).padStart(40, '0'))
  const announceAgain = async () => {
    await announce([...many, foreign], 6000)
    return peers
  }
  await expect.poll(announceAgain).toContain('127.0.0.1:6000')
})

test('if the port is in use, the next poll tries to listen on it again', async () => {
  const groupPort = await freeUdpPort()
  const holder = createSocket('udp4').bind(groupPort)
  await once(holder, 'listening')
  const { peers, poll } = somebody({ groupPort })
  const { announce, untilHeard } = await openSpeaker(groupPort)
  await announce([shared], 6000)
  expect(peers).toEqual([])
  holder.close()
  poll()
  await untilHeard(peers)
})
