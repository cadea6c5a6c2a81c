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
  /** Read: the bytes that wait to be sent, which streamx does not make public. */
  _readableState: { buffered: number }
  /** Read: the names of our extensions, by the number that others call them by. */
  extendedMapping: Record<number, string>
}

type ClientFields = {
  /** Read: the server of incoming connections, whose number has to be limited. */
  _connPool: { tcpServer: Server }
}

type TorrentMembers = {
  /** Called: a piece that came another way is ours to give. */
  _markVerified(index: number): void
  /** Called: a piece of a chunk that turned out wrong is no longer given. */
  _markUnverified(index: number): void
  /** Read: which pieces are here. */
  bitfield: { get(index: number): boolean }
  /** Read: SHA-1 of each piece in hexadecimal digits, for what a former run left on disk. */
  _hashes: string[]
  /** Written: how many pieces of a selection are here already, from its first on. */
  _selections: Iterable<{ offset: number }>
  /** Its method is replaced: pieces that were begun come before the rarest. -1 if none is wanted. */
  _rarityMap: { getRarestPiece(isWanted: (index: number) => boolean): number }
  /** Read: whether the last bytes have left for a peer. Written: how often a connection that ended was opened again. */
  _peers: Map<
    string,
    { conn: { writableLength: number } | null; wire: Wire | null; retries: number }
  >
  /** See `Piece`. Null for those that are here. */
  pieces: (TorrentPiece | null)[]
}

/** Of torrent-piece. Its blocks are of 16 KiB, but for the last. */
export type TorrentPiece = {
  /** Read: bytes. */
  missing: number
  /** Read: the senders of its blocks so far; null before the first block and once the piece is complete. */
  sources: unknown[] | null
  /**
   * Called, with `cancel` and `set`, for blocks that are on disk: takes a block that no peer was asked for, which counts as asked
   * for from then on. -1 if there is none.
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

/** What a name has to be, for each kind of object. */
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
 * To be called in each thread that uses the libraries: for a wire and the client when it starts, for a torrent and one of its
 * pieces when the torrent is ready.
 * @throws an error that names what is missing, and the versions
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
 * To be called when it is ready.
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

/** Methods that replace others are assigned here. */
export const wireMethods = Wire.prototype as unknown as WireMethods

/** Bytes of answers that wait to be sent. */
export const unsentBytes = (wire: Wire): number =>
  (wire as unknown as WireFields)._readableState.buffered

/** Of our extension that others call by this number. */
export const extensionName = (wire: Wire, id: number): string | undefined =>
  (wire as unknown as WireFields).extendedMapping[id]

/** The library sends its handshake by this event, which it emits itself after the keys of an encrypted connection. */
export const sendHandshake = (wire: Wire) => wire.emit('crypto-handshake')

/** Where others connect to us. */
export const incomingServer = (client: WebTorrent): Server =>
  (client as unknown as ClientFields)._connPool.tcpServer

/** What torrents have beyond what is declared. */
export const getInternals = (torrent: Torrent) => torrent as unknown as TorrentMembers

/** Whether something that was sent has not left for a peer yet. */
export const isSending = (torrent: Torrent): boolean =>
  torrent.wires.some((wire) => unsentBytes(wire) > 0) ||
  [...getInternals(torrent)._peers.values()].some(
    ({ conn }) => conn !== null && conn.writableLength > 0,
  )

/** Ends a connection that the library is not to open again. */
export function dropConnection(torrent: Torrent, wire: Wire) {
  for (const peer of getInternals(torrent)._peers.values()) {
    if (peer.wire === wire) peer.retries = Number.POSITIVE_INFINITY
  }
  wire.destroy()
}

/** The piece that came wrong, where that is what a warning of the library says. */
export const failedPiece = ({ message }: Error): number | undefined => {
  const [, index] = /^Piece (\d+) failed verification$/.exec(message) ?? []
  return index === undefined ? undefined : Number(index)
}
