/**
 * Every private name of webtorrent and bittorrent-protocol that shoal reads, calls or replaces. Other files can use
 * these names only through this file, because webtorrent.d.ts does not declare them. An update of the libraries may
 * remove any of them, so each library is pinned to one version, and the names are checked when a thread starts.
 */
import { readFileSync } from 'node:fs'
import nodeModule from 'node:module'
import type { Server } from 'node:net'
import Wire from 'bittorrent-protocol'
import type WebTorrent from 'webtorrent'
import type { Torrent } from 'webtorrent'

/**
 * Methods that are replaced on `Wire.prototype`. All replacements except the one for `startEncryption` call the
 * original method.
 */
type WireMethods = {
  /** Replaced to limit the length of messages, which the library collects in memory. */
  _onMessageLength(this: Wire, bytes: Uint8Array): void
  /** Replaced, with `_onKeepAlive`, to count messages without new information. */
  _onMessage(this: Wire, bytes: Uint8Array): void
  _onKeepAlive(this: Wire): void
  /** Replaced to count blocks that were not requested. */
  _onPiece(this: Wire, index: number, offset: number, bytes: Uint8Array): void
  /**
   * Replaced, with `_onCancel` and `_read`, so that requests wait until the peer has read the blocks that it requested
   * earlier.
   */
  _onRequest(this: Wire, index: number, offset: number, length: number): void
  _onCancel(this: Wire, index: number, offset: number, length: number): void
  _read(this: Wire, done: () => void): void
  /** Replaced because the library's decoder hangs on some extension messages (BEP 10). */
  _onExtended(this: Wire, id: number, bytes: Uint8Array): void
  /**
   * Replaced, with `setInfoHash`, because an invalid key for an encrypted connection causes an error that no code
   * catches.
   */
  _write(this: Wire, bytes: Uint8Array, done: () => void): void
  setInfoHash(this: Wire, infoHash: string): void
  /** Replaced so that only incoming connections may be encrypted. The library can encrypt either all or none. */
  startEncryption(this: Wire, infoHash: string): void
}

type WireFields = {
  /** Read: the number of bytes waiting to be sent, which streamx does not expose. */
  _readableState: { buffered: number }
  /** Read: the names of our extensions, keyed by the numbers that peers use for them. */
  extendedMapping: Record<number, string>
}

type ClientFields = {
  /** Read: the server for incoming connections, to limit their number. */
  _connPool: { tcpServer: Server }
}

type TorrentMembers = {
  /** Called for a piece that was received from another source and can be sent to peers. */
  _markVerified(index: number): void
  /** Called for each piece of a chunk with a wrong hash, because such pieces must not be sent. */
  _markUnverified(index: number): void
  /** Read: which pieces are on disk. */
  bitfield: { get(index: number): boolean }
  /** Read: the SHA-1 of each piece in hexadecimal digits, to check pieces left on disk by an earlier run. */
  _hashes: string[]
  /** Written: the number of pieces at the start of a selection that are already on disk. */
  _selections: Iterable<{ offset: number }>
  /**
   * `getRarestPiece` is replaced so that pieces already begun take precedence over the rarest pieces. It returns -1 if
   * no piece is wanted.
   */
  _rarityMap: { getRarestPiece(isWanted: (index: number) => boolean): number }
  /**
   * Read: whether the last bytes have been sent to a peer. Written: the number of times a closed connection was
   * reopened.
   */
  _peers: Map<
    string,
    { conn: { writableLength: number } | null; wire: Wire | null; retries: number }
  >
  /** Null for pieces that are on disk. */
  pieces: (TorrentPiece | null)[]
}

/** A piece, as defined by the package torrent-piece. Every block except the last is 16 KiB long. */
export type TorrentPiece = {
  /** Read: the number of missing bytes. */
  missing: number
  /** Read: the senders of its blocks so far; null before the first block and once the piece is complete. */
  sources: unknown[] | null
  /**
   * Called, along with `cancel` and `set`, to register blocks that are on disk. Returns a block that has not been
   * requested from any peer, or -1 if there is none. From then on, the block counts as requested.
   */
  reserve(): number
  cancel(block: number): void
  set(block: number, bytes: Uint8Array, source: unknown): boolean
}

type Check = (value: unknown) => boolean
type Checks<Members> = Record<keyof Members, Check>

const isMethod: Check = (value) => typeof value === 'function'
const has =
  (name: string, type: string): Check =>
  (value) =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === type
const isIterable: Check = (value) => isMethod((value as string[] | undefined)?.[Symbol.iterator])

const piece: Checks<TorrentPiece> = {
  missing: (value) => typeof value === 'number',
  sources: (value) => value === null || Array.isArray(value),
  reserve: isMethod,
  cancel: isMethod,
  set: isMethod,
}

/** For each kind of object, a check for each private name. */
export const privateNames = {
  wire: {
    _onMessageLength: isMethod,
    _onMessage: isMethod,
    _onKeepAlive: isMethod,
    _onPiece: isMethod,
    _onRequest: isMethod,
    _onCancel: isMethod,
    _read: isMethod,
    _onExtended: isMethod,
    _write: isMethod,
    setInfoHash: isMethod,
    startEncryption: isMethod,
    _readableState: has('buffered', 'number'),
    extendedMapping: (value) => typeof value === 'object' && value !== null,
  } satisfies Checks<WireMethods & WireFields>,
  client: { _connPool: has('tcpServer', 'object') } satisfies Checks<ClientFields>,
  torrent: {
    _markVerified: isMethod,
    _markUnverified: isMethod,
    bitfield: has('get', 'function'),
    _hashes: Array.isArray,
    _selections: isIterable,
    _rarityMap: has('getRarestPiece', 'function'),
    _peers: (value) => value instanceof Map,
    pieces: Array.isArray,
  } satisfies Checks<TorrentMembers>,
  piece,
}

/**
 * Checks that an object has all the private names for its kind. Must be called in each thread that uses the libraries:
 * for a wire and the client at startup, and for a torrent and one of its pieces when the torrent is ready.
 * @throws an error that lists the missing names and the versions of the libraries
 */
export function checkPrivateNames(kind: keyof typeof privateNames, object: object) {
  const missing = Object.entries<Check>(privateNames[kind])
    .filter(([name, isThere]) => !isThere(Reflect.get(object, name)))
    .map(([name]) => `${kind}.${name}`)
  if (missing.length === 0) return
  const { dependencies = {} } = readPackageJson('..') as { dependencies?: Record<string, string> }
  const versions = ['webtorrent', 'bittorrent-protocol'].map(
    (name) => `${name} ${readPackageJson(name).version} (shoal needs ${dependencies[name]})`,
  )
  const verb = missing.length === 1 ? 'is' : 'are'
  throw new Error(
    `${missing.join(', ')} ${verb} missing from ${versions.join(' and ')}: run npm ci`,
  )
}

/**
 * Checks a torrent and one of its pieces. Must be called when the torrent is ready.
 * @throws the same error as `checkPrivateNames`
 */
export function checkTorrent(torrent: Torrent) {
  checkPrivateNames('torrent', torrent)
  const piece = getInternals(torrent).pieces.find((one) => one !== null)
  if (piece) checkPrivateNames('piece', piece)
}

/**
 * Reads the package.json of a library, or of our own package if `name` is `..`. Returns an empty object on Node before
 * 22.14, which lacks `findPackageJSON`. For the same reason, that function cannot be imported by name.
 */
function readPackageJson(name: string) {
  const path = nodeModule.findPackageJSON?.(name, import.meta.url)
  return path ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

/** The object to which replacements of methods are assigned. */
export const wireMethods = Wire.prototype as unknown as WireMethods

/** Number of bytes waiting to be sent to a peer. */
export const unsentBytes = (wire: Wire): number =>
  (wire as unknown as WireFields)._readableState.buffered

/** The name of the extension of ours that peers refer to by this number. */
export const extensionName = (wire: Wire, id: number): string | undefined =>
  (wire as unknown as WireFields).extendedMapping[id]

/**
 * Makes the library send its handshake, by emitting the event that the library itself emits once the keys of an
 * encrypted connection have been exchanged.
 */
export const sendHandshake = (wire: Wire) => wire.emit('crypto-handshake')

/** The server for incoming connections. */
export const incomingServer = (client: WebTorrent): Server =>
  (client as unknown as ClientFields)._connPool.tcpServer

/** The private members of a torrent. */
export const getInternals = (torrent: Torrent) => torrent as unknown as TorrentMembers

/** Whether any data for peers has not been sent yet. */
export const isSending = (torrent: Torrent): boolean =>
  torrent.wires.some((wire) => unsentBytes(wire) > 0) ||
  [...getInternals(torrent)._peers.values()].some(
    ({ conn }) => conn !== null && conn.writableLength > 0,
  )

/** Closes a connection that the library must not reopen. */
export function dropConnection(torrent: Torrent, wire: Wire) {
  for (const peer of getInternals(torrent)._peers.values()) {
    if (peer.wire === wire) peer.retries = Number.POSITIVE_INFINITY
  }
  wire.destroy()
}

/** The index of the bad piece that a warning of the library reports; undefined for other warnings. */
export const failedPiece = ({ message }: Error): number | undefined => {
  const [, index] = /^Piece (\d+) failed verification$/.exec(message) ?? []
  return index === undefined ? undefined : Number(index)
}
