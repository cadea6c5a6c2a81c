/**
 * Looks for the peers of one torrent without a BitTorrent client, which needs tens of megabytes of memory. Announces a
 * port, and listens on that port and on the local network until a peer appears. The client then takes over the port and
 * the peer ID.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { newPeerId } from '@shoal/model-file'
import { backoffMs } from '@shoal/network'
import { isPortTaken, keepContact, readContact } from '../disk/kept-contact.ts'
import { startLocalDiscovery } from './local-discovery/local-discovery.ts'
import { announceTo, type TrackerFetch } from './tracker-announce.ts'

export type PeerDiscoverySetup = {
  tracker: string
  /** In lowercase hexadecimal digits. */
  infoHash: string
  leftBytes(): number
  /** The address on which to listen for peers. */
  host: string
  /** Where the port and the peer ID are saved. If an earlier pull was killed, its port and peer ID are used again. */
  contactPath: string
  isLocalDiscoveryOn: boolean
  fetch: TrackerFetch
}

/** The values that the BitTorrent client takes over. */
export type Handover = {
  port: number
  /** 20 ASCII characters. */
  peerId: string
  /** Addresses with ports. */
  peers: string[]
}

export interface PeerDiscovery {
  readonly port: number
  /** Resolves when a peer has been found. Never settles if none appears. */
  readonly found: Promise<void>
  /** Why the last announce failed; undefined if it succeeded. */
  trackerError(): unknown
  /** Ends discovery without a final announce, because the BitTorrent client takes over. */
  handOver(): Promise<Handover>
  /**
   * Ends discovery, and notifies the tracker that we have left, which takes at most half a second. Does nothing after
   * `handOver`.
   */
  close(): Promise<void>
}

const maxConnections = 32
const maxRetryAfterMs = 60_000
const minIntervalMs = 10_000
const maxIntervalMs = 60 * 60_000
/** Timeout for the final announce. The timeout is short, because the pull is over and the user is waiting. */
const stopTimeoutMs = 500

/** Starts discovery. Resolves when it is listening for peers, and rejects if it cannot listen. */
export async function startPeerDiscovery(setup: PeerDiscoverySetup): Promise<PeerDiscovery> {
  const { tracker, infoHash, host, contactPath, fetch } = setup
  const peers = new Set<string>()
  const found = Promise.withResolvers<void>()
  const over = new AbortController()
  const { signal } = over

  function find(more: string[]) {
    for (const peer of more) peers.add(peer)
    found.resolve()
  }

  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined) // safe to ignore: the peer may try again
    socket.once('data', () => find([])) // the peer gets no response until it reconnects to the BitTorrent client
  })
  server.maxConnections = maxConnections
  const former = readContact(contactPath)
  const isTakenOver = former !== undefined && (await listenOn(server, former.port, host))
  if (!isTakenOver) await listenOn(server, 0, host)
  server.on('error', () => undefined) // for example, too many open files: incoming connections fail, and are retried
  const { port } = server.address() as AddressInfo
  const peerId = isTakenOver ? former.peerId : newPeerId()
  await keepContact(contactPath, { port, peerId })

  const announce = (event: 'started' | 'stopped' | undefined, until: AbortSignal) =>
    announceTo(
      tracker,
      { infoHash, peerId, port, leftBytes: setup.leftBytes(), event },
      { fetch, signal: until },
    )

  let trackerError: unknown
  async function keepAnnouncing() {
    let event: 'started' | undefined = 'started'
    let failures = 0
    while (!signal.aborted) {
      const waitMs = await announce(event, signal).then(
        ({ hasOthers, peers: named, intervalMs = maxIntervalMs }) => {
          event = undefined
          failures = 0
          trackerError = undefined
          if (hasOthers) find(named)
          return Math.min(Math.max(intervalMs, minIntervalMs), maxIntervalMs)
        },
        (error: unknown) => {
          failures += 1
          trackerError = error // not fatal: the registry also has the bytes
          return backoffMs(failures, maxRetryAfterMs)
        },
      )
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined) // the signal ends the loop
    }
  }
  void keepAnnouncing()

  const torrent = {
    infoHash,
    private: false,
    destroyed: false,
    addPeer(peer: string) {
      find([peer])
      return true
    },
  }
  const local = setup.isLocalDiscoveryOn
    ? startLocalDiscovery({ host, port: () => port, torrents: () => [torrent] })
    : undefined
  local?.announceSoon()

  /** Stops listening, and frees the port. */
  async function stop() {
    over.abort(new Error('peer discovery has stopped'))
    local?.close()
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }

  async function leave() {
    // If this fails, peers notice by themselves that we have left, because we no longer respond.
    await announce('stopped', AbortSignal.timeout(stopTimeoutMs)).catch(() => undefined)
  }

  return {
    port,
    found: found.promise,
    trackerError: () => trackerError,

    async handOver() {
      await stop()
      return { port, peerId, peers: [...peers] }
    },

    async close() {
      if (signal.aborted) return
      await Promise.all([stop(), leave()])
    },
  }
}

/** Listens on a port; 0 for any free port. Resolves with false if another program uses the port. */
async function listenOn(server: Server, port: number, host: string): Promise<boolean> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return true
  } catch (error) {
    if (port === 0 || !isPortTaken(error)) throw error
    return false
  }
}
