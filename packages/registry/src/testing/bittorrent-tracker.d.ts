/** What the tests use of the package, which has no types. */
declare module 'bittorrent-tracker/client' {
  import type { EventEmitter } from 'node:events'

  type Options = {
    infoHash: string
    peerId: string
    announce: string[]
    port: number
    /** Anything lets it speak WebSocket; the WebRTC is in `_createPeer`. */
    wrtc?: object
  }
  type Announce = {
    left?: number
    numwant?: number
    uploaded?: number
    downloaded?: number
    compact?: 0 | 1
  }

  export default class Client extends EventEmitter {
    constructor(options: Options)
    readonly _trackers: { _createPeer(options?: { initiator?: boolean }): EventEmitter }[]
    start(announce?: Announce): void
    update(announce?: Announce): void
    complete(announce?: Announce): void
    stop(announce?: Announce): void
    scrape(options?: { infoHash?: string[] }): void
    destroy(done?: () => void): void
  }
}
