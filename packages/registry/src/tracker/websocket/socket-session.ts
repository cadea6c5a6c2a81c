import type { Reach } from '@shoal/core/addresses'
import { busy, invalid } from '../../errors.ts'
import type { BrowserPeer, Peer, SwarmCounts, Swarms } from '../../swarm/swarm.ts'
import { toBinaryString } from '../announce/announce.ts'
import type { TrackedTorrents } from '../announce/tracked-torrents.ts'
import type { Tracker } from '../announce/tracker.ts'
import type { TrackerMetrics } from '../announce/tracker-metrics.ts'
import type { Answer, Offer, SocketMessage } from './socket-message.ts'

export type SessionDependencies = {
  tracker: Tracker
  swarms: Swarms
  torrents: TrackedTorrents
  intervalSeconds: number
  metrics: TrackerMetrics
  /** Sends a message through a channel if the channel is still open. */
  relay(channel: string, message: object): void
}

type From = { channel: string; address: string; token: string | undefined }

/** Maximum number of torrents per socket, for all clients that share the socket. */
const maxAnnouncedTorrents = 1_000
/**
 * The announce interval of browsers, as a fraction of the interval of other clients. Browsers announce more often,
 * because they can send offers to more peers only with their next announce.
 */
const intervalShare = 2 / 15
/** All kinds of addresses are useful, because WebRTC finds routes between networks itself. */
const everywhere: Reach[] = ['loopback', 'private', 'public']

/** Handles the messages of one WebSocket. */
export interface SocketSession {
  /** Returns the response to a message, or undefined if there is none. Throws for an invalid message. */
  answer(message: SocketMessage): Promise<object | undefined>
  /** Whether the session has a peer in any swarm at the moment. */
  hasAnnounced(): boolean
  /** Leaves all swarms that the session has joined. */
  end(): Promise<void>
}

export function socketSession(dependencies: SessionDependencies, from: From): SocketSession {
  const { tracker, swarms, torrents, metrics, relay } = dependencies
  const interval = Math.ceil(dependencies.intervalSeconds * intervalShare)
  const announced = new Map<string, { swarm: string; peer: Peer }>()

  async function announce({ announce: request, offers, answer }: AnnounceMessage) {
    const { infoHash, peerId, event, isSeeder } = request
    const { swarm } = await torrents.get(infoHash, from.token)
    const { address, channel } = from
    const peer: BrowserPeer = { kind: 'browser', peerId, address, channel, isSeeder }
    if (answer) return passAnswer(swarm, { infoHash, peerId }, answer)
    const key = `${swarm} ${peerId}`
    if (event === 'stopped') {
      announced.delete(key)
      return replyTo(infoHash, await swarms.leave(swarm, peer))
    }
    if (announced.size >= maxAnnouncedTorrents && !announced.has(key)) {
      throw busy(`a socket may announce at most ${maxAnnouncedTorrents} torrents`)
    }
    const wanted = { count: offers.length, reaches: everywhere }
    const { refusal, peers, counts } = await swarms.announce(swarm, peer, wanted)
    if (refusal) {
      metrics.refused.inc({ limit: refusal })
      throw busy('there are too many peers, or this peer_id is already in use')
    }
    announced.set(key, { swarm, peer })
    passOffers(peers, { infoHash, peerId }, offers)
    return replyTo(infoHash, counts)
  }

  function passOffers(peers: Peer[], sender: Sender, offers: Offer[]) {
    for (const [index, { offer, offerId }] of offers.entries()) {
      const peer = peers[index]
      if (peer?.kind !== 'browser') break
      relay(peer.channel, { ...addressed(sender), offer, offer_id: offerId })
      metrics.relayed.inc({ kind: 'offer' })
    }
  }

  /**
   * Relays an answer to the peer that sent the offer. The sender must have announced its peer ID on this socket, so
   * that it cannot answer on behalf of another peer. The tracker does not respond to an answer.
   */
  async function passAnswer(swarm: string, sender: Sender, { answer, offerId, toPeerId }: Answer) {
    const own = await swarms.findBrowser(swarm, sender.peerId)
    if (own?.channel !== from.channel) throw invalid('announce before you answer')
    const peer = await swarms.findBrowser(swarm, toPeerId)
    if (!peer) return undefined // the peer has left in the meantime
    relay(peer.channel, { ...addressed(sender), answer, offer_id: offerId })
    metrics.relayed.inc({ kind: 'answer' })
    return undefined
  }

  const replyTo = (infoHash: string, { complete, incomplete }: SwarmCounts) => ({
    action: 'announce',
    info_hash: toBinaryString(infoHash),
    interval,
    complete,
    incomplete,
  })

  async function scrape(infoHashes: string[]) {
    const files = await tracker.scrape(infoHashes, from.token)
    const entries = Array.from(files, ([infoHash, { complete, incomplete, completed }]) => {
      return [toBinaryString(infoHash), { complete, incomplete, downloaded: completed }]
    })
    return {
      action: 'scrape',
      files: Object.fromEntries(entries),
      flags: { min_request_interval: interval },
    }
  }

  return {
    answer: (message) =>
      message.action === 'scrape' ? scrape(message.infoHashes) : announce(message),

    hasAnnounced: () => announced.size > 0,

    async end() {
      for (const { swarm, peer } of announced.values()) await swarms.leave(swarm, peer)
      announced.clear()
    },
  }
}

type AnnounceMessage = SocketMessage & { action: 'announce' }
type Sender = { infoHash: string; peerId: string }

const addressed = ({ infoHash, peerId }: Sender) => ({
  action: 'announce',
  info_hash: toBinaryString(infoHash),
  peer_id: toBinaryString(peerId),
})
