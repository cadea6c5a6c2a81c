import { closeThread, startThread, untilLoaded } from '@shoal/threads'
import type { Chunk } from '../chunks/manifest.ts'
import type { Contact, Sent, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'

/** The peers of one file. Calls before `join` wait for it. */
export interface Swarm {
  /**
   * Resolves when its thread has loaded, and `join` then runs at once, or when it has ended. Loading takes a second on
   * a busy machine.
   */
  untilLoaded(): Promise<void>
  /** Begins. */
  join(contact: Contact): void
  /** Connected peers other than the registry. */
  peerCount(): number
  /** Trusted pieces may be sent to peers. */
  offer(chunk: Chunk): void
  /** Requests the chunk's pieces. Its first `bytesHere` bytes are on disk, good or not. */
  want(chunk: Chunk, bytesHere: number): void
  /**
   * Resolves when the pieces that were begun are complete or no peer delivers them; never, if the chunk is abandoned.
   * No others are begun.
   */
  settle(chunk: Chunk): Promise<void>
  /** It is no longer needed. */
  leave(chunk: Chunk): void
  /** It has a wrong hash. Its pieces are not sent to peers, and are checked when it is requested again. */
  forget(chunk: Chunk): void
  /** URLs of the file for pieces that no peer has, the best first; none to do without. */
  askRegistry(urls: string[]): void
  /**
   * Leaves. Takes at most half a second once its thread has loaded. Rejects, when it is over, if something failed on
   * the way.
   */
  close(): Promise<void>
}

type Events = {
  /** A piece is on disk, and has its SHA-1. */
  onPiece(index: number, sent: Sent): void
  /** A peer, by its address and port, that sent a bad piece. */
  onBanned(peer: string): void
  /** Nothing arrives from then on. */
  onFailure(reason: string): void
}

/** Leaving the swarm includes an announce. Without it, the tracker notices later. */
const closeTimeoutMs = 500

/**
 * Runs in a separate thread. `pieceLength` is in bytes. If it fails, the pull has no peers: the registry has the bytes
 * as well, so nothing rejects. Received pieces have their SHA-1; callers check more.
 */
export function startSwarm(setup: SwarmSetup, pieceLength: number, events: Events): Swarm {
  let peerCount = 0
  /** By their first piece. */
  const settling = new Map<number, () => void>()
  const fail = (reason: string) => {
    peerCount = 0
    events.onFailure(reason)
  }

  const handlers: SwarmEvents = {
    ready: () => undefined,
    piece: ({ index, sent }) => events.onPiece(index, sent),
    settled: (from) => settling.get(from)?.(),
    peers(count) {
      peerCount = count
    },
    banned: events.onBanned,
    failed: fail,
  }
  const thread = startThread<SwarmMethods>('swarm-thread', import.meta.url, setup, handlers)
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

    close: () => closeThread(thread, closeTimeoutMs),
  }
}
