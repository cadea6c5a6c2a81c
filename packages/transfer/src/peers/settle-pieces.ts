import type { Torrent } from 'webtorrent'
import { diskName } from './swarm-messages.ts'
import { getInternals } from './webtorrent-internals.ts'

type Pieces = { from: number; to: number }

/** Ranges of pieces of which no more are to be begun, each until those that were begun are here or nobody brings them. */
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
    /** To be called often: a peer may leave, or choke us, without a piece. */
    poll: poll,
    /** Only pieces that somebody has begun to send are asked for from now on. */
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

/** What only the disk has of a piece is not lost when the registry goes on with it. */
function isBegun(torrent: Torrent, index: number) {
  const piece = getInternals(torrent).pieces[index]
  if (!piece) return false
  const isSent = piece.sources?.some((source) => source !== diskName) ?? false
  return piece.missing === 0 || isSent || isAsked(torrent, index)
}

/** Whether it is being written, or somebody can go on sending it. The registry is offered what no peer has. */
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
