/** Types for the parts of webtorrent that tests use, because the package does not include types. */
declare module 'webtorrent' {
  import type { EventEmitter } from 'node:events'

  export type Torrent = EventEmitter & { infoHash: string; torrentFile: Uint8Array; path: string }

  export default class WebTorrent extends EventEmitter {
    constructor(options: object)
    add(torrent: string | Uint8Array, options: { path: string }): Torrent
    destroy(done: (error?: Error) => void): void
  }
}
