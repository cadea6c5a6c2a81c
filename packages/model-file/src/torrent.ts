import bencode from 'bencode'

export type TorrentContent = {
  filename: string
  fileSizeBytes: number
  pieceLength: number
  /** SHA-1 of each piece, 20 bytes each, one after another. */
  pieceHashes: Uint8Array
  /** Keeps clients from telling anybody but the tracker (BEP 27). It changes the info hash. */
  isPrivate: boolean
}

/**
 * The bencoded info dictionary of a single-file v1 torrent (BEP 3). It depends on the arguments alone, so every registry
 * gives the same public file the same info hash, and their swarms are one.
 */
export function infoDictionary(content: TorrentContent): Uint8Array {
  const { filename, fileSizeBytes, pieceLength, pieceHashes, isPrivate } = content
  const pieces = Math.ceil(fileSizeBytes / pieceLength)
  if (pieceHashes.length !== pieces * 20) {
    throw new RangeError(`${pieceHashes.length} bytes are not the hashes of ${pieces} pieces`)
  }
  return bencode.encode({
    length: fileSizeBytes,
    name: filename,
    'piece length': pieceLength,
    pieces: pieceHashes,
    private: isPrivate ? 1 : undefined,
  })
}

export type TorrentFile = {
  /** From {@link infoDictionary}; copied as it is. */
  info: Uint8Array
  /** The tracker. */
  announce?: string
  /** Whole-file URLs that honour `Range` (BEP 19). */
  webSeeds: readonly string[]
  comment?: string
  createdBy?: string
}

/** The bytes of a `.torrent` file. */
export function torrentFile({
  info,
  announce,
  webSeeds,
  comment,
  createdBy,
}: TorrentFile): Uint8Array {
  return concatenate([
    ascii('d'),
    ...entry('announce', announce),
    ...entry('comment', comment),
    ...entry('created by', createdBy),
    bencode.encode('info'),
    info,
    ...entry('url-list', webSeeds.length > 0 ? webSeeds : undefined),
    ascii('e'),
  ])
}

/** A key and a value of a dictionary, whose keys stand in the order of their bytes. */
function entry(key: string, value: string | readonly string[] | undefined): Uint8Array[] {
  return value === undefined ? [] : [bencode.encode(key), bencode.encode(value)]
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
