import type { Chunk } from '../chunks/manifest.ts'
import { closeThread, startThread, untilLoaded } from '../start-thread.ts'
import type { Contact, Sent, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'

export type Swarm = ReturnType<typeof startSwarm>

type Events = {
  onPiece(index: number, sent: Sent): void
  onBanned(peer: string): void
  onFailure(reason: string): void
}

/** The tracker is told that we are gone. Without that it learns it later. */
const closeAtMostMs = 500

/**
 * The peers of one file, in a thread of their own. A swarm that fails is one without peers: the registry has the bytes as
 * well, so nothing rejects. Pieces that come have their SHA-1; whoever uses them checks more.
 */
export function startSwarm(setup: SwarmSetup, pieceLength: number, events: Events) {
  let peerCount = 0
  /** By their first piece. */
  const settling = new Map<number, () => void>()
  const fail = (reason: string) => {
    peerCount = 0
    events.onFailure(reason)
  }

  const heard: SwarmEvents = {
    ready: () => undefined,
    piece: ({ index, sent }) => events.onPiece(index, sent),
    settled: (from) => settling.get(from)?.(),
    peers(count) {
      peerCount = count
    },
    banned: events.onBanned,
    failed: fail,
  }
  const thread = startThread<SwarmMethods>('swarm-thread', import.meta.url, setup, heard)
  thread.worker.on('error', (error) => fail(String(error)))
  const { notify } = thread.rpc
  const rangeOf = ({ start, size }: Chunk) => ({
    from: start / pieceLength,
    to: Math.ceil((start + size) / pieceLength) - 1,
  })

  return {
    /** Resolves when `join` is done at once: loading takes a second on a busy machine. */
    untilLoaded: () => untilLoaded(thread),
    /** Begins. What is called before this waits for it. */
    join: (contact: Contact) => notify('join', contact),
    /** Others than the registry that are connected now. */
    peerCount: () => peerCount,
    /** What was trusted may be given to others. */
    offer: (chunk: Chunk) => notify('have', rangeOf(chunk)),
    want: (chunk: Chunk, bytesHere: number) => notify('want', { ...rangeOf(chunk), bytesHere }),
    /** Resolves when the pieces that were begun are here or nobody brings them; never, if the chunk is left. No others are begun. */
    settle(chunk: Chunk) {
      const range = rangeOf(chunk)
      notify('settle', range)
      return new Promise<void>((resolve) => settling.set(range.from, resolve))
    },
    leave(chunk: Chunk) {
      const range = rangeOf(chunk)
      settling.delete(range.from)
      notify('leave', range)
    },
    /** It came wrong. Nobody is given its pieces, and they are looked at when it is wanted again. */
    forget: (chunk: Chunk) => notify('forget', rangeOf(chunk)),
    piecesOf: rangeOf,
    /** URLs of the file for what no peer has; none to do without. */
    askRegistry: (urls: string[]) => notify('registry', urls),

    close: () => closeThread(thread, closeAtMostMs),
  }
}
