/** What is used of webtorrent and of the protocol that it speaks. Names with an underscore are its own, and pinned by tests. */
declare module 'webtorrent' {
  import type { EventEmitter } from 'node:events'
  import type { Server } from 'node:net'
  import type Wire from 'bittorrent-protocol'

  /** Its blocks are of 16 KiB, but for the last. */
  export interface Piece {
    length: number
    /** Bytes. */
    missing: number
    /** The senders of its blocks so far; null before the first block and once the piece is complete. */
    sources: unknown[] | null
    /** A block that nobody was asked for, and is taken to be from then on; -1 where there is none. */
    reserve(): number
    cancel(block: number): void
    set(block: number, bytes: Uint8Array, source: unknown): boolean
  }

  export interface Torrent extends EventEmitter {
    infoHash: string
    /** BEP 27. */
    private: boolean
    ready: boolean
    destroyed: boolean
    done: boolean
    length: number
    pieceLength: number
    lastPieceLength: number
    /** Null for those that are here. */
    pieces: (Piece | null)[]
    bitfield: { get(index: number): boolean; set(index: number, value?: boolean): void }
    wires: Wire[]
    received: number
    uploaded: number
    addPeer(address: string, source?: string): boolean
    removePeer(peer: string): void
    addWebSeed(connection: Wire): void
    select(from: number, to: number, priority?: number): void
    deselect(from: number, to: number): void
    destroy(options?: object, done?: (error?: Error) => void): void
    /** In hexadecimal digits. */
    _hashes: string[]
    /** `offset`: how many pieces are here already, from the first on. */
    _selections: Iterable<{ offset: number }>
    /** -1 where none is wanted. */
    _rarityMap: { getRarestPiece(isWanted: (index: number) => boolean): number }
    _markVerified(index: number): void
    _markUnverified(index: number): void
    _update(): void
    _peers: Map<string, { conn: { writableLength: number } | null }>
  }

  export default class WebTorrent extends EventEmitter {
    constructor(options: object)
    listening: boolean
    torrentPort: number
    uploadSpeed: number
    torrents: Torrent[]
    _connPool: { tcpServer: Server }
    add(torrent: Uint8Array, options: object, onReady?: (torrent: Torrent) => void): Torrent
    throttleDownload(bytesPerSecond: number): void
    throttleUpload(bytesPerSecond: number): void
    destroy(done?: (error?: Error) => void): void
  }
}

declare module 'bittorrent-protocol' {
  import type { EventEmitter } from 'node:events'

  export default class Wire extends EventEmitter {
    constructor(type?: string)
    type: string | null
    destroyed: boolean
    remoteAddress: string | undefined
    remotePort: number | undefined
    peerPieces: { get(index: number): boolean }
    /** Whether it does not answer our requests for now. */
    peerChoking: boolean
    downloaded: number
    uploaded: number
    isSeeder: boolean
    connId: string
    lt_donthave: { donthave(index: number): void }
    use(extension: unknown): void
    setKeepAlive(isOn: boolean): void
    handshake(infoHash: string, peerId: string): void
    bitfield(bits: unknown): void
    have(index: number): void
    unchoke(): void
    choke(): void
    destroy(): void
    /** Names of our extensions, by the number that others call them by. */
    extendedMapping: Record<number, string>
    /** Undefined before the handshake. */
    peerId: string | undefined
    setInfoHash(infoHash: string): void
    startEncryption(infoHash: string): void
    requests: { piece: number; offset: number; length: number }[]
    peerRequests: { piece: number; offset: number; length: number }[]
    _readableState: { buffered: number }
    _read(done: () => void): void
    _onMessageLength(bytes: Uint8Array): void
    _onMessage(bytes: Uint8Array): void
    _onKeepAlive(): void
    _onRequest(index: number, offset: number, length: number): void
    _onCancel(index: number, offset: number, length: number): void
    _onPiece(index: number, offset: number, bytes: Uint8Array): void
    _write(bytes: Uint8Array, done: () => void): void
    _onExtended(id: number, bytes: Uint8Array): void
  }
}

declare module 'lt_donthave' {
  export default function ltDontHave(): unknown
}

declare module 'bitfield' {
  export default class BitField {
    constructor(bits: number)
    buffer: Uint8Array
    set(index: number, value?: boolean): void
    get(index: number): boolean
    setAll(values: Iterable<number>, offset?: number): void
  }
}
