import { crc32 } from 'node:zlib'

/**
 * Returns how many other pullers take precedence over this one for fetching a piece from the registry. The order of
 * precedence is different for each piece. All pullers compute the same order without exchanging messages (rendezvous
 * hashing), so that only one of them requests each piece. If a puller joins or leaves, only its own pieces are
 * reassigned.
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

/**
 * Hashes both values, with the last steps of MurmurHash3. With CRC-32 alone, the order would be similar for all pieces.
 */
function weigh(peerId: string, piece: number): number {
  let hash = crc32(peerId) ^ piece
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
