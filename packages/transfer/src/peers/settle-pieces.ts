import type { Torrent } from 'webtorrent'
import { diskName } from './swarm-messages.ts'
import { getInternals } from './webtorrent-internals.ts'

type Pieces = { from: number; to: number }

/** Ranges in which no more pieces are begun, each until those begun are complete or no peer delivers them. */
export function settlePieces(torrent: Torrent, onSettled: (from: number) => void) {
  /** The pieces that were begun, by the first of their range. */
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
    /** Call it often: a peer may leave, or choke us, without completing a piece. */
    poll: poll,
    /** From now on, only pieces that a peer has begun to send are requested. */
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

/** Blocks of a piece that are only on disk are not lost when the registry continues with it. */
function isBegun(torrent: Torrent, index: number) {
  const piece = getInternals(torrent).pieces[index]
  if (!piece) return false
  const isSent = piece.sources?.some((source) => source !== diskName) ?? false
  return piece.missing === 0 || isSent || isAsked(torrent, index)
}

/**
 * Whether it is being written, or a peer can continue to send it. Pieces that no peer has are offered to the registry.
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
