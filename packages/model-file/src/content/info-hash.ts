import { createHash } from 'node:crypto'

/**
 * Returns the identifier of a v1 torrent: the SHA-1 of its bencoded info dictionary, as 40 hexadecimal digits (BEP 3).
 */
export function infoHash(info: Uint8Array): string {
  return createHash('sha1').update(info).digest('hex')
}
