declare module 'bittorrent-tracker/server' {
  import type { EventEmitter } from 'node:events'
  import type { Server } from 'node:http'

  export default class Tracker extends EventEmitter {
    constructor(options: object)
    http: Server
    /** By info hash. */
    torrents: Record<string, { complete: number; peers: { cache: object } } | undefined>
    listen(port: number, host: string): void
    close(done: () => void): void
  }
}
