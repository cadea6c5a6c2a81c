/**
 * Every private name of webtorrent and bittorrent-protocol that shoal reads, calls or replaces. Other files cannot reach them,
 * since webtorrent.d.ts does not declare them. An update may take any of them away, so both libraries are pinned to one version,
 * and the names are checked when a thread starts.
 */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import type { Server } from 'node:net'
import Wire from 'bittorrent-protocol'
import type WebTorrent from 'webtorrent'
import type { Torrent } from 'webtorrent'

/** Replaced on `Wire.prototype`, and called by what replaces them. */
type WireMethods = {
  /** Replaced: the library collects a message of any length in memory. */
  _onMessageLength(this: Wire, bytes: Uint8Array): void
  /** Replaced, with `_onKeepAlive`: messages without news are counted. */
  _onMessage(this: Wire, bytes: Uint8Array): void
  _onKeepAlive(this: Wire): void
  /** Replaced: blocks that were not requested are counted. */
  _onPiece(this: Wire, index: number, offset: number, bytes: Uint8Array): void
  /** Replaced, with `_onCancel` and `_read`: requests wait until the answers before them are read. */
  _onRequest(this: Wire, index: number, offset: number, length: number): void
  _onCancel(this: Wire, index: number, offset: number, length: number): void
  _read(this: Wire, done: () => void): void
  /** Replaced: the library's decoder hangs on some extension messages (BEP 10). */
  _onExtended(this: Wire, id: number, bytes: Uint8Array): void
  /** Replaced, with `setInfoHash`: an invalid key of an encrypted connection throws where nothing catches it. */
  _write(this: Wire, bytes: Uint8Array, done: () => void): void
  setInfoHash(this: Wire, infoHash: string): void
  /** Replaced: the library can only encrypt in both directions or in none. */
  startEncryption(this: Wire, infoHash: string): void
}

type WireFields = {
  /** Read: the bytes that wait to be sent, which streamx does not expose. */
  _readableState: { buffered: number }
  /** Read: the names of our extensions, by the number that peers use for them. */
  extendedMapping: Record<number, string>
}

type ClientFields = {
  /** Read: the server of incoming connections, whose number has to be limited. */
  _connPool: { tcpServer: Server }
}

type TorrentMembers = {
  /** Called: a piece received another way can be sent to peers. */
  _markVerified(index: number): void
  /** Called: a piece of a chunk with a wrong hash is no longer sent. */
  _markUnverified(index: number): void
  /** Read: which pieces are on disk. */
  bitfield: { get(index: number): boolean }
  /** Read: SHA-1 of each piece in hexadecimal digits, for pieces left on disk by an earlier run. */
  _hashes: string[]
  /** Written: how many pieces of a selection are already on disk, from its first on. */
  _selections: Iterable<{ offset: number }>
  /** Its method is replaced: pieces that were begun take precedence over the rarest. -1 if none is wanted. */
  _rarityMap: { getRarestPiece(isWanted: (index: number) => boolean): number }
  /** Read: whether the last bytes have left for a peer. Written: how often a closed connection was reopened. */
  _peers: Map<
    string,
    { conn: { writableLength: number } | null; wire: Wire | null; retries: number }
  >
  /** See `Piece`. Null for those on disk. */
  pieces: (TorrentPiece | null)[]
}

/** From torrent-piece. Its blocks have 16 KiB, except for the last. */
export type TorrentPiece = {
  /** Read: bytes. */
  missing: number
  /** Read: the senders of its blocks so far; null before the first block and once the piece is complete. */
  sources: unknown[] | null
  /**
   * Called, with `cancel` and `set`, for blocks that are on disk: takes a block that was not requested from any peer,
   * which counts as requested from then on. -1 if there is none.
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

/** The required type of a name, for each kind of object. */
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
 * Call it in each thread that uses the libraries: for a wire and the client at startup, for a torrent and one of its
 * pieces when the torrent is ready.
 * @throws an error with the missing name, and the versions
 */
export function checkPrivateNames(kind: keyof typeof privateNames, object: object) {
  const missing = Object.entries<Check>(privateNames[kind])
    .filter(([name, isThere]) => !isThere(Reflect.get(object, name)))
    .map(([name]) => `${kind}.${name}`)
  if (missing.length === 0) return
  const { dependencies } = readPackageJson('..') as { dependencies: Record<string, string> }
  const versions = ['webtorrent', 'bittorrent-protocol'].map(
    (name) => `${name} ${readPackageJson(name).version} (shoal needs ${dependencies[name]})`,
  )
  throw new Error(`${missing.join(', ')} is missing in ${versions.join(' and ')}: run npm ci`)
}

/**
 * Call it when the torrent is ready.
 * @throws as `checkPrivateNames`
 */
export function checkTorrent(torrent: Torrent) {
  checkPrivateNames('torrent', torrent)
  const piece = getInternals(torrent).pieces.find((one) => one !== null)
  if (piece) checkPrivateNames('piece', piece)
}

/** `..`: of our own package. */
const readPackageJson = (name: string) =>
  JSON.parse(readFileSync(findPackageJSON(name, import.meta.url) ?? '', 'utf8'))

/** Replacements of methods are assigned here. */
export const wireMethods = Wire.prototype as unknown as WireMethods

/** Bytes of answers that wait to be sent. */
export const unsentBytes = (wire: Wire): number =>
  (wire as unknown as WireFields)._readableState.buffered

/** The name of our extension that peers call by this number. */
export const extensionName = (wire: Wire, id: number): string | undefined =>
  (wire as unknown as WireFields).extendedMapping[id]

/** The library sends its handshake by this event, which it emits itself after the keys of an encrypted connection. */
export const sendHandshake = (wire: Wire) => wire.emit('crypto-handshake')

/** The server for incoming connections. */
export const incomingServer = (client: WebTorrent): Server =>
  (client as unknown as ClientFields)._connPool.tcpServer

/** Members of torrents beyond what is declared. */
export const getInternals = (torrent: Torrent) => torrent as unknown as TorrentMembers

/** Whether data that was sent has not left for a peer yet. */
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

/** The bad piece, if a warning of the library reports one. */
export const failedPiece = ({ message }: Error): number | undefined => {
  const [, index] = /^Piece (\d+) failed verification$/.exec(message) ?? []
  return index === undefined ? undefined : Number(index)
}
