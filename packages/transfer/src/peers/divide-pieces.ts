import { crc32 } from 'node:zlib'

/**
 * Returns how many of the other pullers come before this one in fetching a piece from the registry. For each piece, the
 * order is a different one, and all pullers compute the same order without a message (rendezvous hashing), so that each
 * piece leaves the registry once. If a puller joins or leaves, only its own pieces change hands.
 *
 * @param piece the number of the piece, from 0
 * @param self the peer ID of this puller
 * @param others the peer IDs of the other pullers that lack the piece
 */
export function rankFor(piece: number, self: string, others: Iterable<string>): number {
  const own = weigh(self, piece)
  let rank = 0
  for (const other of others) if (weigh(other, piece) < own) rank += 1
  return rank
}

/** A hash of both, with the last steps of MurmurHash3. Without them, CRC-32 would give each piece a similar order. */
function weigh(peerId: string, piece: number): number {
  let hash = crc32(peerId) ^ piece
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
