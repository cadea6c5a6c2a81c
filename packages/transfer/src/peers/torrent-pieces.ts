/** What the pull tells of pieces, and webtorrent is to know. */
import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import type { Torrent } from 'webtorrent'
import type { Senders } from './piece-senders.ts'
import { diskName } from './swarm-messages.ts'
import { getInternals, type TorrentPiece } from './webtorrent-internals.ts'

/** What peers ask each other for (BEP 3). */
const blockBytes = 16 * 1024

type Pieces = { from: number; to: number }
type Wanted = Pieces & { bytesHere: number; fd: number; senders: Senders }

/** What a former run left of these pieces, or a request that broke off, need not come again: they are looked at first. */
export function want(torrent: Torrent, { from, to, bytesHere, fd, senders }: Wanted) {
  const { bitfield, pieces, _hashes: hashes } = getInternals(torrent)
  const bytes = new Uint8Array(torrent.pieceLength)
  for (let index = from; index <= to; index += 1) {
    if (bitfield.get(index)) continue
    const size = index === pieces.length - 1 ? torrent.lastPieceLength : bytes.length
    const count = readSync(fd, bytes, 0, size, index * bytes.length)
    const sha1 = createHash('sha1').update(bytes.subarray(0, count)).digest('hex')
    const isHere = sha1 === hashes[index]
    const begun = bytesHere - (index - from) * bytes.length
    if (isHere) offer(torrent, { from: index, to: index })
    else if (begun > 0 && begun < size) {
      putBlocks(pieces[index] as TorrentPiece, bytes.subarray(0, begun))
      senders.add(index, diskName, 0)
    }
  }
  torrent.select(from, to, 1)
}

/** Nobody is asked for the blocks that `bytes`, the beginning of a piece, has whole. */
function putBlocks(piece: TorrentPiece, bytes: Uint8Array) {
  const count = Math.floor(bytes.length / blockBytes)
  let block = piece.reserve()
  for (; block >= 0 && block < count; block = piece.reserve()) {
    piece.set(block, bytes.slice(block * blockBytes, (block + 1) * blockBytes), diskName)
  }
  if (block >= 0) piece.cancel(block)
}

/**
 * The library counts the pieces that it has at the start of a selection, keeps that count when the start moves, and so
 * would never ask for as many of the pieces that are left. It counts anew from zero.
 */
export function leave(torrent: Torrent, { from, to }: Pieces) {
  for (const selection of getInternals(torrent)._selections) selection.offset = 0
  torrent.deselect(from, to)
}

/** Pieces that came another way are ours to give. */
export function offer(torrent: Torrent, { from, to }: Pieces) {
  const internals = getInternals(torrent)
  for (let index = from; index <= to; index += 1) {
    if (internals.bitfield.get(index)) continue
    internals._markVerified(index)
    for (const wire of torrent.wires) wire.have(index)
  }
}

/** Pieces of a chunk that is not what it should be: each may be wrong on disk by now, and is neither given nor told to be here. */
export function forget(torrent: Torrent, { from, to }: Pieces) {
  const internals = getInternals(torrent)
  for (let index = from; index <= to; index += 1) {
    if (!internals.bitfield.get(index)) continue
    internals._markUnverified(index)
    for (const wire of torrent.wires) wire.lt_donthave.donthave(index)
  }
}
