import { type Bencodable, encodeBencode } from './bencode.ts'

export type TorrentContent = {
  filename: string
  fileSizeBytes: number
  pieceLength: number
  /** Concatenated SHA-1 hashes of the pieces, 20 bytes each. */
  pieceHashes: Uint8Array
  /** Whether clients may use only peers from the tracker (BEP 27). Affects the info hash. */
  isPrivate: boolean
}

/**
 * Returns the bencoded info dictionary of a single-file v1 torrent (BEP 3). The result depends only on the arguments,
 * so every registry computes the same info hash for the same public file, and the peers of all registries belong to the
 * same swarm.
 */
export function infoDictionary(content: TorrentContent): Uint8Array {
  const { filename, fileSizeBytes, pieceLength, pieceHashes, isPrivate } = content
  const pieces = Math.ceil(fileSizeBytes / pieceLength)
  if (pieceHashes.length !== pieces * 20) {
    throw new RangeError(`the piece hashes have ${pieceHashes.length} bytes, not ${pieces * 20}`)
  }
  return encodeBencode({
    length: fileSizeBytes,
    name: utf8(filename),
    'piece length': pieceLength,
    pieces: pieceHashes,
    private: isPrivate ? 1 : undefined,
  })
}

export type TorrentFile = {
  /** The result of {@link infoDictionary}, which is copied unchanged. */
  info: Uint8Array
  /** The URL of the tracker. */
  announce?: string
  /** URLs of the whole file that support `Range` (BEP 19). */
  webSeeds: readonly string[]
  comment?: string
  createdBy?: string
}

/** Returns the content of a `.torrent` file. */
export function torrentFile({
  info,
  announce,
  webSeeds,
  comment,
  createdBy,
}: TorrentFile): Uint8Array {
  return Buffer.concat([
    Buffer.from('d'),
    entry('announce', announce && utf8(announce)),
    entry('comment', comment && utf8(comment)),
    entry('created by', createdBy && utf8(createdBy)),
    encodeBencode('info'),
    info,
    entry('url-list', webSeeds.length > 0 ? webSeeds.map(utf8) : undefined),
    Buffer.from('e'),
  ])
}

/** Encodes a key of a dictionary and its value. The caller must sort the entries by key, in byte order. */
function entry(key: string, value: Bencodable | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0)
  return Buffer.concat([encodeBencode(key), encodeBencode(value)])
}

const utf8 = (text: string): Buffer => Buffer.from(text)
