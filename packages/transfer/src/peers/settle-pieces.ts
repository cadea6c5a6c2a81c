import type { Torrent } from 'webtorrent'
import { diskName } from './swarm-messages.ts'
import { getInternals } from './webtorrent-internals.ts'

type Pieces = { from: number; to: number }

/**
 * Settles ranges of pieces: no further pieces in them are requested, and a range is settled when the pieces that peers
 * had already begun to send are complete, or when no peer is sending them any longer.
 */
export function settlePieces(torrent: Torrent, onSettled: (from: number) => void) {
  /** The pieces that peers had begun to send, keyed by the first piece of the range. */
  const settling = new Map<number, number[]>()

  function poll() {
    for (const [from, begun] of settling) {
      if (begun.some((index) => isComing(torrent, index))) continue
      settling.delete(from)
      onSettled(from)
    }
  }
  torrent.on('verified', poll)

  return {
    /** Checks all ranges. Must be called often, because a peer may leave or choke us without completing a piece. */
    poll: poll,
    /** From now on, requests only those pieces of the range that a peer has begun to send. */
    settle({ from, to }: Pieces) {
      const begun = Array.from({ length: to - from + 1 }, (_, place) => from + place).filter(
        (index) => isBegun(torrent, index),
      )
      for (const index of begun) torrent.select(index, index, 1)
      settling.set(from, begun)
      poll()
    },
    leave: ({ from }: Pieces) => settling.delete(from),
  }
}

/**
 * Whether a peer has begun to send a piece. Blocks that were already on disk do not count: they are not wasted if the
 * registry delivers the rest of the piece.
 */
function isBegun(torrent: Torrent, index: number) {
  const piece = getInternals(torrent).pieces[index]
  if (!piece) return false
  const isSent = piece.sources?.some((source) => source !== diskName) ?? false
  return piece.missing === 0 || isSent || isAsked(torrent, index)
}

/**
 * Whether a piece is being written, or can still be delivered by a peer. The registry counts as a peer, because pieces
 * that no other peer has are requested from it.
 */
function isComing(torrent: Torrent, index: number) {
  const piece = getInternals(torrent).pieces[index]
  if (!piece) return false
  const hasSender = torrent.wires.some(
    ({ type, peerChoking, peerPieces }) =>
      type === 'webSeed' || (!peerChoking && peerPieces.get(index)),
  )
  return piece.missing === 0 || hasSender || isAsked(torrent, index)
}

const isAsked = ({ wires }: Torrent, index: number) =>
  wires.some(({ requests }) => requests.some(({ piece }) => piece === index))
