/** Reports to webtorrent which pieces the pull has, and requests the pieces that the pull needs. */
import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import type { Torrent } from 'webtorrent'
import type { Senders } from './piece-senders.ts'
import { diskName } from './swarm-messages.ts'
import { getInternals, type TorrentPiece } from './webtorrent-internals.ts'

/** The unit of requests between peers (BEP 3). */
const blockBytes = 16 * 1024

type Pieces = { from: number; to: number }
type Wanted = Pieces & { bytesHere: number; fd: number; senders: Senders }

/**
 * Requests pieces. Blocks of these pieces that are already on disk, from an earlier run or an interrupted request, are
 * checked instead of being fetched again.
 */
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

/** Adds the complete blocks in `bytes`, which is the beginning of a piece, so that they are not requested. */
function putBlocks(piece: TorrentPiece, bytes: Uint8Array) {
  const count = Math.floor(bytes.length / blockBytes)
  let block = piece.reserve()
  for (; block >= 0 && block < count; block = piece.reserve()) {
    piece.set(block, bytes.slice(block * blockBytes, (block + 1) * blockBytes), diskName)
  }
  if (block >= 0) piece.cancel(block)
}

/**
 * Stops requesting pieces. The library stores, for each selection, how many pieces at its start are already on disk,
 * and does not adjust that number when `deselect` moves the start. The library would then skip that many missing
 * pieces, so the numbers are reset to zero first.
 */
export function leave(torrent: Torrent, { from, to }: Pieces) {
  for (const selection of getInternals(torrent)._selections) selection.offset = 0
  torrent.deselect(from, to)
}

/** Offers peers pieces that the library did not receive itself. */
export function offer(torrent: Torrent, { from, to }: Pieces) {
  const internals = getInternals(torrent)
  for (let index = from; index <= to; index += 1) {
    if (internals.bitfield.get(index)) continue
    internals._markVerified(index)
    for (const wire of torrent.wires) wire.have(index)
  }
}

/**
 * Withdraws the pieces of a chunk with a wrong hash. Any of them may be bad on disk, so none may be sent or announced.
 */
export function forget(torrent: Torrent, { from, to }: Pieces) {
  const internals = getInternals(torrent)
  for (let index = from; index <= to; index += 1) {
    if (!internals.bitfield.get(index)) continue
    internals._markUnverified(index)
    for (const wire of torrent.wires) wire.lt_donthave.donthave(index)
  }
}
