/**
 * Local peer discovery (BEP 14): announces torrents on the networks of this machine, and finds peers that announce the
 * same torrents. One instance serves all torrents of a client.
 */
import { randomBytes } from 'node:crypto'
import { type Clock, every, waitingClock } from '@shoal/core/async'
import { allowPerMinute } from '@shoal/core/limits'
import type { Torrent } from 'webtorrent'
import { composeAnnouncements, parseAnnouncement } from './local-announcement.ts'
import { groupPort, groups, listenToGroup, sendToNetwork } from './local-group.ts'
import {
  findLocalNetworks,
  type LocalNetwork,
  onLink,
  pickForAnnouncing,
} from './local-networks.ts'
import { localSchedule } from './local-schedule.ts'

type LocalTorrent = Pick<Torrent, 'infoHash' | 'private' | 'destroyed' | 'addPeer'>

export type LocalDiscoverySetup = {
  /**
   * The address on which we listen for peers, or `0.0.0.0` or `::` for all addresses. Discovery does nothing for a
   * loopback address.
   */
  host: string
  /** The port on which we listen; undefined while we do not listen. */
  port(): number | undefined
  /** The torrents to announce now. */
  torrents(): LocalTorrent[]
  findNetworks?: (host: string) => LocalNetwork[]
  groupPort?: number
  clock?: Clock
}

/** How often this machine's networks are checked. They change, for example when a laptop is moved. */
const pollIntervalMs = 10_000
/** How long new torrents are collected, so that torrents added one after another are announced together. */
const collectMs = 200
const packetsPerMinute = { each: 300, all: 1500 }
/**
 * Limits on attempts to connect to announced peers. Each torrent that an announced peer shares with us counts as one
 * attempt.
 */
const peersPerMinute = { each: 100, all: 400 }

export interface LocalDiscovery {
  /** Schedules the announcement of new torrents. Without this call, they are announced only at the next poll. */
  announceSoon(): void
  /** Stops discovery. Nothing is sent or received afterwards. */
  close(): void
}

/** Starts to look for peers and to announce torrents. Never throws: an unusable network is tried again later. */
export function startLocalDiscovery(setup: LocalDiscoverySetup): LocalDiscovery {
  const { host, findNetworks = findLocalNetworks, clock = waitingClock } = setup
  const { groupPort: port = groupPort } = setup
  const cookie = randomBytes(6).toString('hex')
  const schedule = localSchedule()
  const mayBeRead = allowPerMinute(packetsPerMinute)
  const mayBeTried = allowPerMinute(peersPerMinute)
  const listeners = (['IPv4', 'IPv6'] as const).map((family) => listenToGroup(family, port, hear))
  let networks: LocalNetwork[] = []
  let isOnLink = onLink(networks)
  let stopCollecting: (() => void) | undefined
  let isClosed = false

  /** Returns the torrents that may be announced. Private torrents use only the peers from their tracker (BEP 27). */
  const torrentsNow = () =>
    setup.torrents().filter((one) => one.infoHash && !one.private && !one.destroyed)

  function hear(packet: Buffer, sender: string) {
    const now = clock.now()
    if (!isOnLink(sender) || !mayBeRead(sender, now)) return
    const announcement = parseAnnouncement(packet)
    if (!announcement || announcement.cookie === cookie) return
    const wanted = new Set(announcement.infoHashes)
    for (const torrent of torrentsNow().filter(({ infoHash }) => wanted.has(infoHash))) {
      if (!mayBeTried(sender, now)) return
      const peerHost = sender.includes(':') ? `[${sender}]` : sender
      torrent.addPeer(`${peerHost}:${announcement.port}`, 'lsd')
    }
  }

  function updateNetworks() {
    const found = findNetworks(host)
    if (JSON.stringify(found) !== JSON.stringify(networks)) {
      networks = found
      isOnLink = onLink(networks)
      schedule.hurry()
    }
    for (const listener of listeners) listener.join(networks)
  }

  function announce() {
    const peerPort = setup.port()
    const reachable = pickForAnnouncing(networks)
    if (peerPort === undefined || reachable.length === 0) return
    const all = torrentsNow().map(({ infoHash }) => infoHash)
    const infoHashes = schedule.take(all, Date.now())
    if (infoHashes.length === 0) return
    const announcement = { port: peerPort, infoHashes, cookie }
    for (const network of reachable) {
      const packets = composeAnnouncements(groups[network.family].host, announcement)
      void sendToNetwork(network, port, packets)
    }
  }

  function poll() {
    updateNetworks()
    announce()
  }
  updateNetworks()
  const stopPolling = every(pollIntervalMs, poll, clock)

  return {
    announceSoon() {
      if (stopCollecting || isClosed) return
      stopCollecting = clock.after(collectMs, () => {
        stopCollecting = undefined
        announce()
      })
    },
    close() {
      isClosed = true
      stopPolling()
      stopCollecting?.()
      for (const listener of listeners) listener.close()
    },
  }
}
