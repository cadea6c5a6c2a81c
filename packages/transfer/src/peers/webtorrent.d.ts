/**
 * The parts of webtorrent and of its protocol library that shoal uses, except for their private names, which
 * webtorrent-internals.ts declares.
 */
declare module 'webtorrent' {
  import type { EventEmitter } from 'node:events'
  import type Wire from 'bittorrent-protocol'

  export interface Torrent extends EventEmitter {
    infoHash: string
    /** Whether the torrent is private (BEP 27). */
    private: boolean
    ready: boolean
    destroyed: boolean
    done: boolean
    length: number
    pieceLength: number
    lastPieceLength: number
    /** Null for pieces that are on disk. */
    pieces: unknown[]
    wires: Wire[]
    received: number
    uploaded: number
    addPeer(address: string, source?: string): boolean
    removePeer(peer: string): void
    addWebSeed(connection: Wire): void
    select(from: number, to: number, priority?: number): void
    deselect(from: number, to: number): void
    destroy(options?: object, done?: (error?: Error) => void): void
  }

  export default class WebTorrent extends EventEmitter {
    constructor(options: object)
    listening: boolean
    /** Whether the client was destroyed, by `destroy` or because of an error. */
    destroyed: boolean
    torrentPort: number
    /** In hexadecimal digits. */
    peerId: string
    uploadSpeed: number
    torrents: Torrent[]
    add(torrent: Uint8Array, options: object, onReady?: (torrent: Torrent) => void): Torrent
    throttleDownload(bytesPerSecond: number): void
    throttleUpload(bytesPerSecond: number): void
    /** Throws if the client is already destroyed. */
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
    /** Whether the peer is choking us, in which case it does not answer our requests. */
    peerChoking: boolean
    downloaded: number
    /** In bytes per second, counting only the bytes of blocks. */
    downloadSpeed(): number
    uploadSpeed(): number
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
    /** Undefined before the handshake. */
    peerId: string | undefined
    requests: { piece: number; offset: number; length: number }[]
    peerRequests: { piece: number; offset: number; length: number }[]
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
