/** Types for the parts of the package that tests and benchmarks use, because the package does not include types. */
declare module 'bittorrent-tracker/client' {
  import type { EventEmitter } from 'node:events'

  type Options = {
    infoHash: string
    peerId: string
    announce: string[]
    port: number
    /** Any value enables WebSocket trackers. WebRTC connections are created by `_createPeer`. */
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

declare module 'bittorrent-tracker/server' {
  import type { EventEmitter } from 'node:events'
  import type { Server as HttpServer } from 'node:http'

  export default class Server extends EventEmitter {
    constructor(options: { udp: boolean; ws: boolean; stats: boolean; interval?: number })
    readonly http: HttpServer
    /** The swarms, by info hash. */
    readonly torrents: Record<string, { complete: number; peers: { cache: object } } | undefined>
    listen(port: number, host: string, done?: () => void): void
    close(done: () => void): void
  }
}
