/** Declares the parts of BitTorrent libraries that the tests use as clients of the registry. */

declare module 'bittorrent-protocol' {
  import type { Duplex } from 'node:stream'

  type Extension = new (wire: Wire) => { onMessage(bytes: Uint8Array): void }

  export default class Wire extends Duplex {
    /** 0: no encryption; 1: encryption is offered, but plaintext follows the key exchange; 2: RC4 is required. */
    constructor(type: 'tcpOutgoing', encryption: 0 | 1 | 2)
    peerChoking: boolean
    peerPieces: { buffer: Uint8Array }
    ut_metadata: import('node:events').EventEmitter & { fetch(): void }
    use(extension: Extension): void
    startEncryption(infoHash: string): void
    handshake(infoHash: string, peerId: Uint8Array): void
    interested(): void
    extended(name: string | number, payload: object): void
  }
}

declare module 'ut_metadata' {
  import type { Extension } from 'bittorrent-protocol'

  export default function utMetadata(): Extension
}
