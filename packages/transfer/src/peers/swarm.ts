import { closeThread, startThread, untilLoaded } from '@shoal/threads'
import type { Chunk } from '../chunks/manifest.ts'
import type { Contact, Sent, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'

/** The peers of one file. Requests made before `join` take effect after it. */
export interface Swarm {
  /**
   * Resolves when the swarm's thread has loaded, so that `join` takes effect immediately, or when the thread has ended.
   * Loading can take a second on a busy machine.
   */
  untilLoaded(): Promise<void>
  /** Joins the swarm. */
  join(contact: Contact): void
  /** Number of connected peers other than the registry. */
  peerCount(): number
  /** Number of connected peers that are pulling the file with shoal at the moment. */
  pullerCount(): number
  /** Offers the pieces of a trusted chunk to peers. */
  offer(chunk: Chunk): void
  /** Requests the chunk's pieces. The first `bytesHere` bytes of the chunk are on disk, valid or not. */
  want(chunk: Chunk, bytesHere: number): void
  /**
   * Requests no further pieces of the chunk, except those that a peer has begun to send. Resolves when those are
   * complete, or when no peer is sending them any longer. Never settles if `leave` is called for the chunk.
   */
  settle(chunk: Chunk): Promise<void>
  /** Reports that the chunk is no longer needed. */
  leave(chunk: Chunk): void
  /**
   * Reports that the chunk has a wrong hash. Its pieces are not sent to peers, and are checked when the chunk is
   * requested again.
   */
  forget(chunk: Chunk): void
  /** Sets the URLs of the file, best first, for pieces that no peer has. Without URLs, the registry is not used. */
  askRegistry(urls: string[]): void
  /** Changes a limit, in bytes per second; undefined for no limit. */
  limit(direction: 'download' | 'upload', bytesPerSecond: number | undefined): void
  /**
   * Leaves the swarm. This takes at most half a second once the swarm's thread has loaded. Rejects if something failed,
   * but only after the swarm has been left.
   */
  close(): Promise<void>
}

type Events = {
  /** A piece is on disk and matches its SHA-1. */
  onPiece(index: number, sent: Sent): void
  /** A peer, identified by its address and port, sent a bad piece. */
  onBanned(peer: string): void
  /** The swarm failed. No more pieces arrive. */
  onFailure(reason: string): void
}

/**
 * Maximum time to leave the swarm, which includes a final announce. If the announce does not finish in time, the
 * tracker notices only later that we have left.
 */
const closeTimeoutMs = 500

/**
 * Starts a swarm in a separate thread. `pieceLength` is in bytes. If the swarm fails, no call rejects, because the
 * registry also has the bytes. Received pieces match their SHA-1, but callers must also check the SHA-256 of the chunk.
 */
export function startSwarm(setup: SwarmSetup, pieceLength: number, events: Events): Swarm {
  let peerCount = 0
  let pullerCount = 0
  /** Functions that resolve the promises returned by `settle`, keyed by the index of the chunk's first piece. */
  const settling = new Map<number, () => void>()
  const fail = (reason: string) => {
    peerCount = 0
    pullerCount = 0
    events.onFailure(reason)
  }

  const handlers: SwarmEvents = {
    ready: () => undefined,
    piece: ({ index, sent }) => events.onPiece(index, sent),
    settled: (from) => settling.get(from)?.(),
    peers({ peers, pullers }) {
      peerCount = peers
      pullerCount = pullers
    },
    banned: events.onBanned,
    failed: fail,
  }
  const thread = startThread<SwarmMethods>('swarm-thread', import.meta.url, setup, {
    ours: handlers,
  })
  thread.worker.on('error', (error) => fail(String(error)))
  const { notify } = thread.rpc
  const toPieceRange = ({ start, size }: Chunk) => ({
    from: start / pieceLength,
    to: Math.ceil((start + size) / pieceLength) - 1,
  })

  return {
    untilLoaded: () => untilLoaded(thread),
    join: (contact) => notify('join', contact),
    peerCount: () => peerCount,
    pullerCount: () => pullerCount,
    offer: (chunk) => notify('have', toPieceRange(chunk)),
    want: (chunk, bytesHere) => notify('want', { ...toPieceRange(chunk), bytesHere }),
    settle(chunk) {
      const range = toPieceRange(chunk)
      notify('settle', range)
      return new Promise<void>((resolve) => settling.set(range.from, resolve))
    },
    leave(chunk) {
      const range = toPieceRange(chunk)
      settling.delete(range.from)
      notify('leave', range)
    },
    forget: (chunk) => notify('forget', toPieceRange(chunk)),
    askRegistry: (urls) => notify('registry', urls),
    limit: (direction, bytesPerSecond) => notify('limit', { direction, bytesPerSecond }),

    close: () => closeThread(thread, closeTimeoutMs),
  }
}
