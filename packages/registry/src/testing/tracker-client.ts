import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import Client from 'bittorrent-tracker/client'

export type Update = { complete: number; incomplete: number; interval: number; peers?: Uint8Array }
type Announce = NonNullable<Parameters<Client['start']>[0]>

const opened: Client[] = []

/** Creates a tracker client like those in BitTorrent programs. It uses HTTP or WebSocket, depending on the URL. */
export function trackerClient(announce: string, infoHash: string, port = 6_881) {
  const peerId = Buffer.from(`-WW0300-${randomBytes(6).toString('hex')}`).toString('hex')
  const client = new Client({ announce: [announce], infoHash, peerId, port, wrtc: {} })
  opened.push(client)
  client.on('error', (error) => client.emit('warning', error))
  const peers: string[] = []
  client.on('peer', (peer: string | { id: string }) =>
    peers.push(typeof peer === 'string' ? peer : peer.id),
  )

  async function answer<T>(event: string, ask: () => void): Promise<T> {
    const gone = new AbortController()
    const { signal } = gone
    peers.length = 0
    const answered = once(client, event, { signal }).then(([value]) => value as T)
    const refused = once(client, 'warning', { signal }).then(([warning]) => Promise.reject(warning))
    ask()
    try {
      return await Promise.race([answered, refused])
    } finally {
      gone.abort()
      await Promise.allSettled([answered, refused])
      await sleep(1) // peers are reported after the response
    }
  }

  return {
    peerId,
    client,
    /** The addresses in the last response, or the peer IDs of connected browsers. */
    peers,
    start: (options?: Announce) => answer<Update>('update', () => client.start(options)),
    update: (options?: Announce) => answer<Update>('update', () => client.update(options)),
    complete: (options?: Announce) => answer<Update>('update', () => client.complete(options)),
    stop: (options?: Announce) => answer<Update>('update', () => client.stop(options)),
    scrape: () =>
      answer<{ complete: number; incomplete: number; downloaded: number }>('scrape', () =>
        client.scrape(),
      ),
  }
}

export async function closeTrackerClients() {
  await Promise.all(
    opened.splice(0).map((client) => new Promise<void>((done) => client.destroy(() => done()))),
  )
}

/** Gives the client a WebRTC stub that creates descriptions but never connects. */
export function pretendWebRtc(client: Client) {
  for (const tracker of client._trackers) {
    tracker._createPeer = ({ initiator = false } = {}) => {
      const peer = Object.assign(new EventEmitter(), {
        destroy: () => undefined,
        signal: ({ type }: { type: string }) => {
          if (type === 'offer') peer.emit('signal', { type: 'answer', sdp: `answer to ${type}` })
        },
      })
      if (initiator) setImmediate(() => peer.emit('signal', { type: 'offer', sdp: 'an offer' }))
      return peer
    }
  }
}
