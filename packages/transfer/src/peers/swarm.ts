import { closeThread, startThread, untilLoaded } from '@shoal/threads'
import type { Chunk } from '../chunks/manifest.ts'
import type { Contact, Sent, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'

/** The peers of one file. What it is told before `join` waits for that. */
export interface Swarm {
  /** Resolves when its thread has loaded, and does `join` at once, or has ended. Loading takes a second on a busy machine. */
  untilLoaded(): Promise<void>
  /** Begins. */
  join(contact: Contact): void
  /** Others than the registry that are connected now. */
  peerCount(): number
  /** What was trusted may be given to others. */
  offer(chunk: Chunk): void
  /** Its pieces are to come. The first `bytesHere` bytes of it are on disk, good or not. */
  want(chunk: Chunk, bytesHere: number): void
  /** Resolves when the pieces that were begun are here or nobody brings them; never, if the chunk is left. No others are begun. */
  settle(chunk: Chunk): Promise<void>
  /** It is not wanted any more. */
  leave(chunk: Chunk): void
  /** It came wrong. Nobody is given its pieces, and they are looked at when it is wanted again. */
  forget(chunk: Chunk): void
  /** URLs of the file for what no peer has, the best first; none to do without. */
  askRegistry(urls: string[]): void
  /** Leaves. Takes half a second at most, once its thread has loaded. Rejects, when it is over, if something failed on the way. */
  close(): Promise<void>
}

type Events = {
  /** A piece is on disk, and has its SHA-1. */
  onPiece(index: number, sent: Sent): void
  /** A peer, by its address and port, that sent what was not the piece. */
  onBanned(peer: string): void
  /** Nothing comes from then on. */
  onFailure(reason: string): void
}

/** The tracker is told that we are gone. Without that it learns it later. */
const closeTimeoutMs = 500

/**
 * In a thread of its own. `pieceLength` is in bytes. A swarm that fails is one without peers: the registry has the bytes as
 * well, so nothing rejects. Pieces that come have their SHA-1; whoever uses them checks more.
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
